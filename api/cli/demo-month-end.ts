import { z } from "zod";
import { readBillingState } from "../../schemas/billing/billing-state.ts";
import { dueDay } from "../../schemas/billing/periods.ts";
import type { Queryable } from "../../schemas/postgres/connect.ts";
import { inTransaction, poolWithin } from "../../schemas/postgres/transaction.ts";
import { dayOf, formatDay, yearMonthOf } from "../../schemas/time/calendar.ts";
import { HOUR_MS, type Zone, zoneOf } from "../../schemas/time/zone.ts";
import { createAdjustment } from "../billing/ledger/adjustment-operations.ts";
import { updateBillingSettings } from "../billing/ledger/billing-settings-operations.ts";
import { setPayoutResults } from "../billing/payouts/results/set-results.ts";
import { approvePayoutRun } from "../billing/payouts/runs/approve-run.ts";
import { createPayoutRun } from "../billing/payouts/runs/make-run.ts";
import { approveStatements } from "../billing/statements/approve-statements.ts";
import { closeStatements } from "../billing/statements/close-statements.ts";
import type { CommandEnvironment } from "./command.ts";
import { CommandError } from "./command-error.ts";
import { withDatabase } from "./database.ts";
import { DEMO_SLUG } from "./demo.ts";
import {
  DEMO_BOOKS,
  DEMO_ISSUER,
  DRAFT_CURRENCY,
  OPEN_CURRENCY,
  PAID_CURRENCY,
} from "./demo-books.ts";
import { answerOf, openSession, type Session } from "./session.ts";

const COMMAND = "demo month-end";
/** Stops two of these commands from running at once. Any number that nothing else uses. */
const MONTH_END_LOCK = 7_265_003;
/** Terms that partners of the demo have. */
const TERMS = "net30";

const Statements = z.object({
  data: z.object({
    statements: z.array(z.object({ id: z.int(), status: z.string(), currency: z.string() })),
  }),
});
const Approved = z.object({
  data: z.array(z.object({ outcome: z.string(), message: z.string() })),
});
const Run = z.object({
  data: z.object({
    id: z.int(),
    lines: z.array(z.object({ reference: z.string(), amount: z.string() })),
  }),
});
const Results = z.object({ data: z.object({ applied: z.int(), rejected: z.array(z.unknown()) }) });

/**
 * Gives the demo billing and what two months of it leave behind, by the operations of the API. All of it is one transaction, so that
 * a command that is killed leaves nothing, and a second one finds all of it.
 */
export async function makeMonthEnd(environment: CommandEnvironment): Promise<string> {
  return await withDatabase(environment, async (db) => {
    const opened = await openSession(db, DEMO_SLUG, { command: COMMAND, environment });
    return await inTransaction(db, async (tx) => {
      await tx.query({
        name: "lock-month-end",
        text: "select pg_advisory_xact_lock($1)",
        values: [MONTH_END_LOCK],
      });
      const session = { ...opened, context: opened.contextOn(poolWithin(tx)) };
      const state = await readBillingState(tx, session.context.workspace.id);
      if (state !== undefined) return "The demo has billing already: it is left as it is.";
      return await fillBooks(tx, session);
    });
  });
}

async function fillBooks(tx: Queryable, session: Session): Promise<string> {
  const months = new Months(session);
  await answerOf(session, updateBillingSettings, {
    body: { enabled: true, starts_on: months.firstDay(0), legal: DEMO_ISSUER },
  });
  for (const { monthsAgo, entries } of DEMO_BOOKS) {
    await postAsOf(tx, monthsAgo === 0 ? undefined : months.endMs(monthsAgo) - HOUR_MS);
    for (const { partner, reason, ...entry } of entries) {
      const named = reason.replace("{month}", months.name(monthsAgo));
      const body = { ...entry, affiliate_id: partner, reason: named };
      await answerOf(session, createAdjustment, { body });
    }
  }
  await postAsOf(tx, undefined);
  const closed = await answerOf(session, closeStatements, { body: {} });
  const { statements } = Statements.parse(closed).data;
  await approve(session, statements);
  const paid = await payRun(session, months);
  const open = await openRun(session, months);
  return [
    `Two closed months: ${statements.length} statements of ${months.name(2)} and ${months.name(1)},`,
    `a run that is paid (P${paid}) and one that is open (P${open}).`,
  ].join(" ");
}

/** Until the end of the transaction, or the next call, the ledger posts as of then; undefined: as of now. */
async function postAsOf(tx: Queryable, atMs: number | undefined): Promise<void> {
  await tx.query({
    name: "set-clock-of-ledger",
    text: "select set_config('tracker.books_at', $1, true)",
    values: [atMs === undefined ? "" : new Date(atMs).toISOString()],
  });
}

/** Drafts of one currency stay for whoever tries the demo. */
async function approve(
  session: Session,
  statements: z.infer<typeof Statements>["data"]["statements"],
): Promise<void> {
  const drafts = statements.filter(
    ({ status, currency }) => status === "draft" && currency !== DRAFT_CURRENCY,
  );
  const answer = await answerOf(session, approveStatements, {
    body: { ids: drafts.map(({ id }) => id) },
  });
  for (const { outcome, message } of Approved.parse(answer).data)
    if (outcome !== "approved") throw new CommandError(`A statement is not approved. ${message}`);
}

/** The run of the older month, with everybody paid on the day when it was due. */
async function payRun(session: Session, months: Months): Promise<number> {
  const { id, lines } = await makeRun(session, {
    currency: PAID_CURRENCY,
    due_until: months.dueDay(2),
    execution_date: months.dueDay(2),
  });
  const path = { id: String(id) };
  await answerOf(session, approvePayoutRun, { path });
  const rows = lines.map(({ reference, amount }) => ({
    reference,
    amount,
    status: "paid",
    external_id: `DEMO-${reference}`,
  }));
  const results = await answerOf(session, setPayoutResults, { path, body: { rows } });
  const { applied, rejected } = Results.parse(results).data;
  if (applied !== lines.length) throw new CommandError(`Not paid: ${JSON.stringify(rejected)}`);
  return id;
}

/** A draft of what both months owe. */
async function openRun(session: Session, months: Months): Promise<number> {
  const { id } = await makeRun(session, {
    currency: OPEN_CURRENCY,
    due_until: months.dueDay(1),
    execution_date: months.dueDay(1),
    format: "pain001",
  });
  return id;
}

async function makeRun(
  session: Session,
  body: Readonly<Record<string, string>>,
): Promise<z.infer<typeof Run>["data"]> {
  return Run.parse(await answerOf(session, createPayoutRun, { body })).data;
}

/** Months of the workspace, counted back from the present one. */
class Months {
  readonly #zone: Zone;
  readonly #nowMs: number;

  constructor({ context }: Session) {
    const zone = zoneOf(context.workspace.timezone);
    if (zone === undefined) throw new Error("a workspace has a time zone");
    this.#zone = zone;
    this.#nowMs = context.nowMs;
  }

  /** Such as 2026-10. */
  name(monthsAgo: number): string {
    return this.firstDay(monthsAgo).slice(0, "2026-10".length);
  }

  firstDay(monthsAgo: number): string {
    return formatDay(this.#first(monthsAgo));
  }

  endMs(monthsAgo: number): number {
    return this.#zone.startOfDayMs(this.#first(monthsAgo - 1));
  }

  /** When the statements of the month are due. */
  dueDay(monthsAgo: number): string {
    return dueDay(TERMS, this.#zone, this.endMs(monthsAgo));
  }

  #first(monthsAgo: number): number {
    const { year, month } = yearMonthOf(this.#zone.dayAt(this.#nowMs));
    return dayOf(year, month - monthsAgo, 1);
  }
}
