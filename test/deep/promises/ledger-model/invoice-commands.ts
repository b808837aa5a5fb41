import { z } from "zod";
import { formatAmount } from "../../../../schemas/money/amount.ts";
import { type ModelDocument, textOf } from "./documents.ts";
import { amount, anyOf, type Command, CURRENCY, equal } from "./sequence.ts";
import { nowAfterAll, storedDocuments } from "./statement-commands.ts";

const Made = z.looseObject({ id: z.int() });
/** Payments are whole cents. */
const CENT = 100n;
const RECEIVED_AT = "2026-01-05T00:00:00.000Z";

const close: Command = async (sequence) => {
  const { books, calls, model } = sequence;
  const untilMs = await nowAfterAll(sequence);
  const expected = model.invoices.next();
  const { status, text } = await calls.send("POST", "/invoices/close", {
    advertiser_id: books.advertiserId,
    until: new Date(untilMs).toISOString(),
  });
  equal(text, status, 200);
  const rows = await storedDocuments(sequence, "invoice", books.advertiserId);
  const made = rows.slice(model.invoices.chain.length);
  const texts = expected === undefined ? [] : [textOf(expected, expected.status)];
  equal(
    "closed invoice",
    made.map((one) => one.text),
    texts,
  );
  if (expected !== undefined) model.invoices.close({ ...expected, id: made[0]?.id ?? 0 });
};

const approve: Command = async ({ books, calls, model, roll }) => {
  const one = anyOf(
    roll,
    model.invoices.chain.filter(({ status }) => status === "draft"),
  );
  if (one === undefined) return;
  const { status, text } = await calls.send("POST", `/invoices/${one.id}/approve`);
  if (status !== 200) {
    // It was sent again, and had its effect before.
    const [row] = await books.rows<{ number: string | null }>(
      "select number from invoice where id = $1",
      [one.id],
    );
    if (status !== 409 || row?.number === null) equal(text, status, 200);
  }
  one.status = "approved";
  model.payments.cover();
};

const makeVoid: Command = async ({ calls, model }) => {
  const one = model.invoices.chain.at(-1);
  if (one?.status !== "draft") return;
  const done = { table: "invoice", status: "void", id: one.id };
  const { status, text } = await calls.move(`/invoices/${one.id}/void`, undefined, done);
  equal(text, status, 200);
  model.invoices.void();
};

const credit: Command = async ({ calls, model, roll }) => {
  const one = anyOf(roll, model.invoices.chain);
  if (one === undefined || one.status === "credited") return;
  const done = { table: "invoice", status: "credited", id: one.id };
  const body = { reason: "by the model" };
  const { status, text } = await calls.move(`/invoices/${one.id}/credit`, body, done);
  const isCredited = one.status === "approved";
  equal(text, Math.floor(status / 100), isCredited ? 2 : 4);
  if (!isCredited) return;
  one.status = "credited";
  model.payments.cover();
};

/** Sent twice, it is one payment. */
const pay: Command = async ({ books, calls, model, roll }) => {
  const given = (amount(roll) / CENT + 1n) * CENT;
  const payment = {
    advertiser_id: books.advertiserId,
    currency: CURRENCY,
    amount: formatAmount(given),
    external_id: `bank-${model.payments.list.length}`,
    received_at: RECEIVED_AT,
  };
  const first = await calls.send("POST", "/payments", payment);
  equal(first.text, Math.floor(first.status / 100), 2);
  const { id } = Made.parse(first.data);
  if (roll(2) === 0)
    equal(
      "a payment that is sent again",
      Made.parse((await calls.send("POST", "/payments", payment)).data).id,
      id,
    );
  model.payments.list.push({ id, amount: given, isReversed: false });
  model.payments.cover();
};

const reversePayment: Command = async ({ books, calls, model, roll }) => {
  const one = anyOf(
    roll,
    model.payments.list.filter(({ isReversed }) => !isReversed),
  );
  if (one === undefined) return;
  const body = { reason: "by the model" };
  const { status, text } = await calls.send("POST", `/payments/${one.id}/reverse`, body);
  if (status === 409) {
    const found = await books.rows(
      "select 1 from advertiser_payment_reversal where payment_id = $1",
      [one.id],
    );
    equal(text, found.length, 1);
  } else equal(text, Math.floor(status / 100), 2);
  one.isReversed = true;
  model.payments.cover();
};

export const INVOICE_COMMANDS: readonly Command[] = [
  close,
  close,
  approve,
  approve,
  makeVoid,
  credit,
  pay,
  pay,
  reversePayment,
];

/** The status of an invoice in the table. */
export function sentStatus({ status, payable, tax }: ModelDocument, paid: bigint): string {
  if (status !== "approved") return status;
  return paid === payable + tax ? "paid" : paid > 0n ? "part_paid" : "sent";
}
