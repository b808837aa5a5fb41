import { z } from "zod";
import { formatAmount } from "../../../../schemas/money/amount.ts";
import { INVOICE_COMMANDS } from "./invoice-commands.ts";
import type { ModelConversion, ModelStatus } from "./ledger-model.ts";
import { PAYOUT_COMMANDS, PAYOUT_STEPS } from "./payout-commands.ts";
import { amount, anyOf, type Command, CURRENCY, equal, type Sequence } from "./sequence.ts";
import { STATEMENT_COMMANDS, STATEMENT_STEPS } from "./statement-commands.ts";
import { UPDATE_COMMANDS } from "./update-commands.ts";

const STATUSES: readonly ModelStatus[] = ["approved", "pending", "rejected"];
const Made = z.looseObject({ id: z.int() });

async function convert({ books, model, roll }: Sequence): Promise<void> {
  const status = STATUSES[roll(3)] ?? "pending";
  const partner = [...books.partners, undefined][roll(3)];
  const [payout, revenue] = [amount(roll), amount(roll)];
  const id = await books.convert({
    status,
    affiliate_id: partner ?? null,
    payout: formatAmount(payout),
    revenue: formatAmount(revenue),
  });
  model.convert({ id, partner, status, payout, revenue });
}

/** A change to the status that it has already is a change, too. After a payout this is a refund: what was paid is taken back. */
function setStatus(status: ModelStatus): Command {
  return async (sequence) => {
    const one = anyConversion(sequence);
    if (one === undefined) return;
    await sequence.books.change(one.id, { status });
    sequence.model.change(one, { status });
  };
}

async function changeAmounts(sequence: Sequence): Promise<void> {
  const { books, model, roll } = sequence;
  const one = anyConversion(sequence);
  if (one === undefined) return;
  const [payout, revenue] = [amount(roll), amount(roll)];
  await books.change(one.id, { payout: formatAmount(payout), revenue: formatAmount(revenue) });
  model.change(one, { payout, revenue });
}

async function adjust({ books, calls, model, roll }: Sequence): Promise<void> {
  const partner = books.partners[roll(2)] ?? 0;
  const given = (roll(2) === 0 ? 1n : -1n) * (amount(roll) + 1n);
  const { status, data, text } = await calls.send("POST", "/adjustments", {
    affiliate_id: partner,
    currency: CURRENCY,
    amount: formatAmount(given),
    kind: given > 0n ? "bonus" : "deduction",
    reason: "by the model",
  });
  equal(text, status, 201);
  model.adjust({ id: Made.parse(data).id, partner, amount: given, isReversed: false });
}

/** Only once: a second reversal is refused. */
async function reverseAdjustment({ calls, model, roll }: Sequence): Promise<void> {
  const one = anyOf(roll, model.adjustments);
  if (one === undefined) return;
  const { status, data, text } = await calls.send("POST", `/adjustments/${one.id}/reverse`, {
    reason: "by the model",
  });
  equal(text, status, one.isReversed ? 409 : 201);
  if (one.isReversed) return;
  one.isReversed = true;
  const { id } = Made.parse(data);
  model.adjust({ id, partner: one.partner, amount: -one.amount, isReversed: true });
}

/** What happens while billing is off is posted once it is on again. */
async function switchOffAndOn(sequence: Sequence): Promise<void> {
  await sequence.books.disable();
  await changeAmounts(sequence);
  await convert(sequence);
  await sequence.books.enable();
}

/** The whole way of money: by chance alone few sequences would come to its end. */
async function payOut(sequence: Sequence): Promise<void> {
  for (const step of [...STATEMENT_STEPS, ...STATEMENT_STEPS, ...PAYOUT_STEPS])
    await step(sequence);
}

/** Each as often as it is named. */
export const COMMANDS: readonly Command[] = [
  convert,
  convert,
  convert,
  convert,
  setStatus("approved"),
  setStatus("approved"),
  setStatus("rejected"),
  setStatus("pending"),
  changeAmounts,
  changeAmounts,
  adjust,
  reverseAdjustment,
  switchOffAndOn,
  payOut,
  payOut,
  payOut,
  ...STATEMENT_COMMANDS,
  ...PAYOUT_COMMANDS,
  ...INVOICE_COMMANDS,
  ...UPDATE_COMMANDS,
];

function anyConversion({ model, roll }: Sequence): ModelConversion | undefined {
  return anyOf(roll, model.conversions);
}
