import { closeStatements } from "../../../../schemas/billing/close-statements.ts";
import { PAYMENT_TERMS } from "../../../../schemas/billing/periods.ts";
import { formatAmount } from "../../../../schemas/money/amount.ts";
import { zoneOf } from "../../../../schemas/time/zone.ts";
import { pause } from "../../../system/service.ts";
import { textOf } from "./documents.ts";
import { amount, anyOf, type Command, equal, mostly, type Sequence } from "./sequence.ts";

type Row = { readonly id: number; readonly text: readonly string[] };

const TRIES = 40;

/** The documents of an account as they are stored, without void ones; `kind` is also the name of the table. */
export async function storedDocuments(
  { books }: Sequence,
  kind: "statement" | "invoice",
  ownerId: number,
): Promise<Row[]> {
  const owner = kind === "statement" ? "affiliate_id" : "advertiser_id";
  const only = kind === "statement" ? "" : "and kind = 'invoice'";
  return await books.rows<Row>(
    `select id, array[status, carried_in::text, total::text, payable::text, tax_amount::text, carried_out::text] as text
     from ${kind} where workspace_id = $1 and ${owner} = $2 and status <> 'void' ${only} order by to_seq, period_to`,
    [books.workspaceId, ownerId],
  );
}

/** An instant after everything that was posted: what is posted in the instant itself is left out. */
export async function nowAfterAll({ books }: Sequence): Promise<number> {
  await books.untilPosted();
  const [last] = await books.rows<{ ms: string }>(
    `select coalesce((extract(epoch from max(b.last_posted_at)) * 1000)::bigint, 0)::text as ms
     from ledger_balance b join ledger_account a on a.id = b.account_id where a.workspace_id = $1 and b.last_seq > 0`,
    [books.workspaceId],
  );
  while (Date.now() <= Number(last?.ms) + 1) await pause(1);
  return Date.now() - 1;
}

/** As the task that closes periods, with a period that ends now. */
async function close(sequence: Sequence): Promise<void> {
  const { books, pool, model, roll } = sequence;
  const partner = books.partners[roll(2)] ?? 0;
  const untilMs = await nowAfterAll(sequence);
  const documents = model.statementsOf(partner);
  const expected = documents.next();
  await untilDone(async () => {
    const zone = zoneOf("UTC");
    if (zone === undefined) throw new Error("UTC is a zone");
    const { workspaceId } = books;
    const scope = { workspaceId, zone, taxText: "" };
    const limits = { endedMs: untilMs, untilMs, accountsMax: 10 };
    await closeStatements(pool, { books: scope, affiliateId: partner, ...limits });
  });
  const rows = await storedDocuments(sequence, "statement", partner);
  const made = rows.slice(documents.chain.length);
  const texts = expected === undefined ? [] : [textOf(expected, expected.status)];
  equal(
    "closed statement",
    made.map(({ text }) => text),
    texts,
  );
  if (expected !== undefined) documents.close({ ...expected, id: made[0]?.id ?? 0 });
}

/** The work is done in one transaction, so that it may be done again. */
async function untilDone(work: () => Promise<void>): Promise<void> {
  for (let times = 1; ; times += 1) {
    try {
      await work();
      return;
    } catch (error) {
      if (times === TRIES) throw error;
    }
  }
}

async function approve({ books, calls, model, roll }: Sequence): Promise<void> {
  const partner = books.partners[roll(2)] ?? 0;
  const { chain } = model.statementsOf(partner);
  const one = mostly(roll, chain, ({ status }) => status === "draft");
  if (one === undefined) return;
  const { status, text } = await calls.send("POST", `/statements/${one.id}/approve`);
  equal(text, status, one.status === "carried" ? 409 : 200);
  if (one.status === "draft") one.status = "approved";
}

/** Of any statement: one that is not the newest, or that was approved, is refused. */
async function makeVoid({ books, calls, model, roll }: Sequence): Promise<void> {
  const documents = model.statementsOf(books.partners[roll(2)] ?? 0);
  const one = roll(3) === 0 ? anyOf(roll, documents.chain) : documents.chain.at(-1);
  if (one === undefined) return;
  const done = { table: "statement", status: "void", id: one.id };
  const { status, text } = await calls.move(`/statements/${one.id}/void`, undefined, done);
  const isVoidable = one === documents.chain.at(-1) && ["draft", "carried"].includes(one.status);
  equal(text, status, isVoidable ? 200 : 409);
  if (isVoidable) documents.void();
}

/** Terms decide when a period ends, not what is in it. */
async function changeTerms({ books, calls, model, roll }: Sequence): Promise<void> {
  const partner = books.partners[roll(2)] ?? 0;
  const minimum = amount(roll);
  const { status, text } = await calls.send("PATCH", `/affiliates/${partner}`, {
    payment_terms: anyOf(roll, PAYMENT_TERMS),
    min_payout: formatAmount(minimum),
  });
  equal(text, status, 200);
  model.statementsOf(partner).minimum = minimum;
}

export const STATEMENT_COMMANDS: readonly Command[] = [
  close,
  close,
  close,
  approve,
  approve,
  approve,
  makeVoid,
  changeTerms,
];

/** In the order in which money goes its way. */
export const STATEMENT_STEPS: readonly Command[] = [close, approve];
