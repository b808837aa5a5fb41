import { z } from "zod";
import { amountOf, formatAmount } from "../../../../schemas/money/amount.ts";
import type { ModelDocument } from "./documents.ts";
import type { LedgerModel } from "./ledger-model.ts";
import type { ModelLine, ModelRun, Result } from "./model-run.ts";
import { anyOf, type Command, CURRENCY, equal, mostly, type Sequence } from "./sequence.ts";

const Run = z.looseObject({
  id: z.int(),
  status: z.string(),
  lines: z.array(
    z.looseObject({
      id: z.int(),
      reference: z.string(),
      affiliate_id: z.int(),
      amount: z.string(),
    }),
  ),
});
const Outcome = z.looseObject({
  applied: z.int(),
  unchanged: z.int(),
  rejected: z.array(z.unknown()),
});
const LONG_AGO = "2020-01-01T00:00:00.000Z";
const NO_ROUTE = { table: "payout_run" } as const;

async function make({ calls, books, model, runs }: Sequence): Promise<void> {
  const claimed = new Set(runs.flatMap(claimsOf));
  const due = books.partners
    .map((partner) => ({
      partner,
      statements: model
        .statementsOf(partner)
        .chain.filter((one) => one.status === "approved" && !claimed.has(one)),
    }))
    .filter(({ statements }) => statements.length > 0);
  const { status, data, text } = await calls.send("POST", "/payout-runs", {
    currency: CURRENCY,
    due_until: "2099-01-01",
    execution_date: "2099-01-01",
  });
  equal(text, status, due.length === 0 ? 409 : 201);
  if (due.length === 0) return;
  const made = Run.parse(data);
  equal(
    "lines of a run",
    made.lines.map((line) => `${line.affiliate_id} ${line.amount}`).toSorted(),
    due
      .map(({ partner, statements }) => `${partner} ${formatAmount(grossOf(statements))}`)
      .toSorted(),
  );
  const lines = due.map(({ partner, statements }): ModelLine => {
    const line = made.lines.find(({ affiliate_id }) => affiliate_id === partner);
    const { id = 0, reference = "" } = line ?? {};
    return {
      id,
      reference,
      partner,
      statements,
      status: "pending",
      isUnseen: false,
      results: new Set(),
    };
  });
  runs.push({ id: made.id, status: "draft", lines });
}

/** Whoever approves has not seen the new details: the line is held at approval. */
async function changeMethod(sequence: Sequence): Promise<void> {
  await giveMethod(sequence, sequence.books.partners[sequence.roll(2)] ?? 0);
}

/** At the beginning, so that partners can be paid. */
export async function givePaymentMethods(sequence: Sequence): Promise<void> {
  for (const partner of sequence.books.partners) await giveMethod(sequence, partner);
}

async function giveMethod({ calls, runs, roll }: Sequence, partner: number): Promise<void> {
  const { status, text } = await calls.send("PUT", `/affiliates/${partner}/payment-method`, {
    payment_method: "wire",
    payment_details: {
      holder: `Holder ${roll(1_000_000)}`,
      iban: ["DE89370400440532013000", "NL91ABNA0417164300"][roll(2)],
    },
  });
  equal(text, status, 200);
  for (const { lines } of runs)
    for (const line of lines) if (line.partner === partner) line.isUnseen = true;
}

async function approve({ calls, runs, roll }: Sequence): Promise<void> {
  const run = mostly(roll, runs, ({ status }) => status === "draft");
  if (run === undefined) return;
  const done = { ...NO_ROUTE, status: "approved", id: run.id };
  const { status, text } = await calls.move(`/payout-runs/${run.id}/approve`, undefined, done);
  const isApproved = run.status === "draft" && run.lines.some(({ isUnseen }) => !isUnseen);
  // What was approved before looks like a call that was sent again, and only the model knows that it was not.
  if (run.status !== "approved") equal(text, status, isApproved ? 200 : 409);
  if (!isApproved) return;
  run.status = "approved";
  for (const line of run.lines) {
    if (line.isUnseen) line.status = "held";
    else setStatements(line, "in_payout");
  }
}

async function exportFile({ calls, runs, roll }: Sequence): Promise<void> {
  const run = anyOf(
    roll,
    runs.filter((one) => one.status === "approved"),
  );
  if (run === undefined) return;
  const path = `/payout-runs/${run.id}/export?format=csv`;
  const [first, second] = [await calls.get(path), await calls.get(path)];
  equal(first.text, first.status, 200);
  equal("a file that is exported again", second.text, first.text);
  const named = run.lines.filter(({ reference }) => first.text.includes(`${reference},`));
  const expected = run.lines.filter(({ status }) => status !== "held");
  equal("references in a file", named.length, expected.length);
}

/** Reports a result of any line that was not held, sometimes twice. What does not follow from the line's state is refused. */
async function settle({ calls, model, runs, roll }: Sequence): Promise<void> {
  const run = mostly(roll, runs.filter(isOpen), ({ status }) => status === "approved");
  const lines = run?.lines.filter(({ status }) => status !== "held") ?? [];
  const line = mostly(roll, lines, ({ status }) => status === "pending");
  if (run === undefined || line === undefined) return;
  const status = nextResult(line, roll);
  const isKnown = line.results.has(status);
  const isTaken = !isKnown && (line.status === "pending" || line.status === "paid");
  const body = { rows: [resultRow(line, status)] };
  const path = `/payout-runs/${run.id}/results`;
  const sent = async () => Outcome.parse((await calls.send("POST", path, body)).data);
  const { applied, unchanged } = await sent();
  const expected = [Number(isTaken), Number(isKnown)];
  equal(`${status} of a line that is ${line.status}`, [applied, unchanged], expected);
  if (!isTaken) return;
  if (roll(2) === 0) equal("a result that is sent again", (await sent()).unchanged, 1);
  take(model, line, status);
  run.status = endOf(run);
}

function nextResult({ status }: ModelLine, roll: Sequence["roll"]): Result {
  if (status === "paid") return "returned";
  return roll(3) === 0 ? "failed" : "paid";
}

function resultRow(line: ModelLine, status: Result): Record<string, string> {
  const { reference, id, statements } = line;
  const amount = formatAmount(grossOf(statements));
  return { reference, status, external_id: `${status}-${id}`, at: LONG_AGO, amount };
}

function take(model: LedgerModel, line: ModelLine, status: Result): void {
  const amount = grossOf(line.statements);
  if (status !== "failed") model.pay(line.partner, status === "paid" ? amount : -amount);
  setStatements(line, status === "paid" ? "paid" : "approved");
  line.status = status;
  line.results.add(status);
}

async function cancel({ calls, runs, roll }: Sequence): Promise<void> {
  const run = anyOf(roll, runs);
  if (run === undefined) return;
  const done = { ...NO_ROUTE, status: "cancelled", id: run.id };
  const body = { file_was_not_sent: true };
  const { status, text } = await calls.move(`/payout-runs/${run.id}/cancel`, body, done);
  const hasResults = run.lines.some((line) => !["pending", "held"].includes(line.status));
  const isCancelled = ["draft", "approved"].includes(run.status) && !hasResults;
  if (run.status !== "cancelled") equal(text, status, isCancelled ? 200 : 409);
  if (!isCancelled) return;
  for (const line of run.lines) if (line.status === "pending") setStatements(line, "approved");
  run.status = "cancelled";
}

export const PAYOUT_COMMANDS: readonly Command[] = [
  make,
  make,
  changeMethod,
  approve,
  approve,
  exportFile,
  settle,
  settle,
  settle,
  cancel,
];

/** In the order in which money goes its way. */
export const PAYOUT_STEPS: readonly Command[] = [make, approve, exportFile, settle, settle];

function isOpen({ status }: ModelRun): boolean {
  return status === "approved" || status === "paid" || status === "failed";
}

/** Statements that no other run may pay. */
function claimsOf({ status, lines }: ModelRun): readonly ModelDocument[] {
  if (status === "cancelled") return [];
  return lines.flatMap((line) =>
    ["pending", "paid"].includes(line.status) ? line.statements : [],
  );
}

function endOf({ lines }: ModelRun): ModelRun["status"] {
  const states = new Set(lines.map(({ status }) => status));
  if (states.has("pending")) return "approved";
  return states.has("paid") ? "paid" : "failed";
}

function setStatements({ statements }: ModelLine, status: ModelDocument["status"]): void {
  for (const one of statements) one.status = status;
}

function grossOf(statements: readonly ModelDocument[]): bigint {
  return statements.reduce((all, { payable, tax }) => all + payable + tax, amountOf("0"));
}
