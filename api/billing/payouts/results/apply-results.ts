import { type LedgerTransaction, postLedger } from "../../../../schemas/billing/post-ledger.ts";
import { amountOf } from "../../../../schemas/money/amount.ts";
import { formatCoins } from "../../../../schemas/money/minor-units.ts";
import type { Queryable } from "../../../../schemas/postgres/connect.ts";
import { inTransaction } from "../../../../schemas/postgres/transaction.ts";
import { conflict } from "../../../operation/errors.ts";
import type { FieldFaults, OperationContext } from "../../../operation/operation.ts";
import type { Actor } from "../../../operation/principal.ts";
import { queueEvent } from "../../../records/queue-event.ts";
import { findRunOf } from "../runs/approve-run.ts";
import { lockPayouts } from "../runs/payout-runs.ts";
import { idsOf } from "../runs/run-writes.ts";
import type { ResultRow } from "./result-fields.ts";
import {
  linesByExternalId,
  lockLines,
  type NewResult,
  type ResultStatus,
  type SettledLine,
  settleRun,
  writeResults,
} from "./result-rows.ts";

/** Rows of one transaction. */
const PART_ROWS = 500;

export type NumberedRow = { readonly row: number; readonly result: ResultRow };
export type Outcome = {
  applied: number;
  unchanged: number;
  readonly rejected: { readonly row: number; readonly fields: FieldFaults }[];
};

/** Applies rows in their order. Results, their postings and their events are committed together, in parts. */
export async function applyResults(
  context: OperationContext,
  runId: number,
  rows: readonly NumberedRow[],
): Promise<Outcome> {
  const outcome: Outcome = { applied: 0, unchanged: 0, rejected: [] };
  for (const part of partsOf(rows)) {
    const done = await inTransaction(
      context.db,
      async (tx) => await applyPart(tx, context, runId, part),
    );
    outcome.applied += done.applied;
    outcome.unchanged += done.unchanged;
    outcome.rejected.push(...done.rejected);
  }
  return outcome;
}

/** Parts in which no line occurs twice: the second result of a line builds on the first. */
function* partsOf(rows: readonly NumberedRow[]): Generator<readonly NumberedRow[]> {
  let part: NumberedRow[] = [];
  let references = new Set<string>();
  for (const row of rows) {
    if (part.length === PART_ROWS || references.has(row.result.reference)) {
      yield part;
      part = [];
      references = new Set();
    }
    part.push(row);
    references.add(row.result.reference);
  }
  if (part.length > 0) yield part;
}

async function applyPart(
  tx: Queryable,
  context: OperationContext,
  runId: number,
  rows: readonly NumberedRow[],
): Promise<Outcome> {
  const { workspace, principal } = context;
  await lockPayouts(tx, workspace.id);
  const run = await findRunOf({ db: tx, workspace }, { id: runId });
  if (run.status === "draft" || run.status === "cancelled")
    throw conflict("status", `this run is ${run.status}`);
  const lines = await lockLines(
    tx,
    runId,
    rows.map(({ result }) => result.reference),
  );
  const externalIds = rows.map(({ result }) => result.external_id);
  const owners = new Map(await linesByExternalId(tx, workspace.id, externalIds));
  const outcome: Outcome = { applied: 0, unchanged: 0, rejected: [] };
  const results: NewResult[] = [];
  for (const { row, result } of rows) {
    const line = lines.get(result.reference);
    const judged = line === undefined ? UNKNOWN : judgeResult(line, result, owners);
    if (judged === "unchanged") outcome.unchanged += 1;
    else if (judged !== "applied") outcome.rejected.push({ row, fields: judged });
    else if (line !== undefined) {
      const { external_id: externalId, status, fee, error } = result;
      const at = result.at ?? new Date(context.nowMs).toISOString();
      results.push({ line, status, externalId, fee: fee ?? null, at, error });
      if (externalId !== "") owners.set(externalId, line.id);
    }
  }
  outcome.applied = results.length;
  await writeResults(tx, workspace.id, results, principal.actor);
  const posted = results.flatMap((result) => postingOf(result, principal.actor));
  await postLedger(tx, workspace.id, posted);
  await settleRun(tx, runId);
  for (const result of results) await tell(tx, context, runId, result);
  return outcome;
}

const UNKNOWN: FieldFaults = { reference: "no line of this run has this reference" };

/** What a result does to a line (N55). */
function judgeResult(
  line: SettledLine,
  { status, external_id: externalId, amount, currency }: ResultRow,
  owners: ReadonlyMap<string, number>,
): "applied" | "unchanged" | FieldFaults {
  if (amount !== undefined && amountOf(amount) !== amountOf(line.amount))
    return {
      amount: `expected ${formatCoins(amountOf(line.amount), line.currency)}, the amount of this line`,
    };
  if (currency !== undefined && currency !== line.currency)
    return { currency: `expected ${line.currency}, the currency of this line` };
  if (line.results.includes(`${status}/${externalId}`)) return "unchanged";
  const owner = externalId === "" ? undefined : owners.get(externalId);
  if (owner !== undefined && owner !== line.id)
    return { external_id: "another line has this external id" };
  return stepOf(line, status);
}

/** Whether a line of this state takes a result with this status. */
function stepOf(line: SettledLine, status: ResultStatus): "applied" | FieldFaults {
  if (line.status === "held") return { reference: "this line was held and left the run" };
  if (line.status === "pending") return "applied";
  if (line.status === "paid" && status === "returned") return "applied";
  if (line.status === "paid")
    return {
      status: status === "paid" ? "the line is paid already" : "the line is paid: send `returned`",
    };
  return { status: `the line has ${line.status}: the next run pays its statements` };
}

/** What a result moves in the ledger; a payment that never arrived moves nothing. */
function postingOf({ line, status, externalId }: NewResult, actor: Actor): LedgerTransaction[] {
  if (status === "failed" || (status === "returned" && line.payment_id === null)) return [];
  const amount = status === "paid" ? amountOf(line.amount) : -amountOf(line.amount);
  const [keyId, personId] = idsOf(actor);
  const { currency } = line;
  return [
    {
      kind: status === "paid" ? "payout" : "payout_return",
      sourceKind: "payout_line",
      sourceId: `${line.id}/${status}/${externalId}`,
      description: line.reference,
      reversesId: status === "paid" ? undefined : (line.payment_id ?? undefined),
      keyId: keyId ?? undefined,
      personId: personId ?? undefined,
      entries: [
        { account: "partner_payable", ownerId: line.affiliate_id, currency, amount },
        { account: "clearing", ownerId: 0, currency, amount: -amount },
      ],
    },
  ];
}

async function tell(
  tx: Queryable,
  context: OperationContext,
  runId: number,
  { line, status, externalId, fee, at, error }: NewResult,
): Promise<void> {
  await queueEvent(tx, context, status === "paid" ? "payout.paid" : "payout.failed", () => ({
    data: {
      id: line.id,
      run_id: runId,
      reference: line.reference,
      affiliate_id: line.affiliate_id,
      affiliate_code: line.affiliate_code,
      affiliate_name: line.affiliate_name,
      method: line.method,
      currency: line.currency,
      amount: line.amount,
      statement_ids: line.statement_ids,
      status,
      external_id: externalId === "" ? null : externalId,
      fee,
      error,
      settled_at: at,
    },
  }));
}
