import { z } from "zod";
import { readBillingState } from "../../../../schemas/billing/billing-state.ts";
import type { Queryable } from "../../../../schemas/postgres/connect.ts";
import { inTransaction } from "../../../../schemas/postgres/transaction.ts";
import { unrestrictedAdminWrite } from "../../../access/access-of-operations.ts";
import { pathId } from "../../../http/path-fields.ts";
import { conflict, notFound } from "../../../operation/errors.ts";
import { type Operation, type OperationContext, operation } from "../../../operation/operation.ts";
import {
  detailsOf,
  linePurpose,
  readPaymentRows,
  sealDetails,
  UNOPENED,
} from "../details/payment-accounts.ts";
import { maskDetails } from "../details/payment-details.ts";
import { needFourEyes } from "./four-eyes.ts";
import { holdOf } from "./held-reasons.ts";
import { findRun, type LineRow, linesOfRun, lockPayouts, type RunSummary } from "./payout-runs.ts";
import { ShownRun, showRun } from "./run-fields.ts";
import { approveLines, type JudgedLine, markInPayout, setRunStatus } from "./run-writes.ts";

export const approvePayoutRun: Operation = operation({
  name: "approvePayoutRun",
  method: "POST",
  path: "/payout-runs/{id}/approve",
  tag: "Payouts",
  summary: "Approve a payout run",
  description:
    "Freezes what each line pays to. Lines that may not be paid now leave the run, and the next run may pay their statements. With `approval` `four_eyes`, " +
    "whoever made the run or changed payment details of its partners within 7 days is refused.",
  access: unrestrictedAdminWrite,
  input: { path: z.object({ id: pathId }) },
  output: z.object({ data: ShownRun }),
  status: 200,
  keepsAnswer: true,
  failures: ["conflict", "unavailable"],
  findResource: findRunOf,
  run: async (context, { resource: { id } }) => {
    const { db, workspace, principal } = context;
    await inTransaction(db, async (tx) => {
      await lockPayouts(tx, workspace.id);
      const run = await findRunOf({ db: tx, workspace }, { id });
      if (run.status !== "draft") throw conflict("status", `this run is ${run.status} already`);
      await approve(tx, context, run);
    });
    const run = await findRunOf(context, { id });
    return { body: { data: showRun(principal.role, run, await linesOfRun(db, id)) } };
  },
});

async function approve(tx: Queryable, context: OperationContext, run: RunSummary): Promise<void> {
  const { workspace, principal } = context;
  const state = await readBillingState(tx, workspace.id);
  if (state?.has_violations === true)
    throw conflict(
      "billing_audit",
      "the last audit of the ledger found a violation: nothing is approved",
    );
  const lines = await linesOfRun(tx, run.id);
  const judged = await judgeLines(tx, context, { run, lines, state });
  const paid = new Set(judged.filter(({ hold }) => hold === undefined).map(({ id }) => id));
  if (paid.size === 0) throw conflict("lines", "no line of this run can be paid now");
  const affiliateIds = lines.filter(({ id }) => paid.has(id)).map((line) => line.affiliate_id);
  await needFourEyes(tx, context, { state, runId: run.id, affiliateIds });
  await approveLines(tx, run.id, judged);
  if ((await markInPayout(tx, run.id)) > 0)
    throw conflict(
      "statements",
      "a statement of this run is not approved any more: cancel the run",
    );
  await setRunStatus(tx, run.id, "approved", principal.actor);
}

/** A line that was held stays so: whoever approves has not seen it among the lines that are paid. */
async function judgeLines(
  tx: Queryable,
  { workspace, secretKeys, nowMs }: OperationContext,
  {
    run,
    lines,
    state,
  }: {
    readonly run: RunSummary;
    readonly lines: readonly LineRow[];
    readonly state: Awaited<ReturnType<typeof readBillingState>>;
  },
): Promise<JudgedLine[]> {
  const ids = lines.map((line) => line.affiliate_id);
  const rows = await readPaymentRows(tx, workspace.id, { ids, lock: true });
  const { currency, format } = run;
  return lines.flatMap((line): JudgedLine[] => {
    const { id, status, released_at: releasedAt, created_at: madeAt } = line;
    const row = rows.get(line.affiliate_id);
    if (row === undefined || status === "held") return [];
    const details = detailsOf(secretKeys, row);
    const hold = holdOf({ row, details, currency, format, state, nowMs, releasedAt, madeAt });
    if (hold !== undefined || details === undefined || details === UNOPENED)
      return [{ id, hold, masked: line.details, sealed: undefined }];
    const sealed = sealDetails(secretKeys, details, linePurpose(id)).toString("base64");
    return [{ id, hold, masked: maskDetails(details), sealed }];
  });
}

/** @throws {ApiError} `not_found` */
export async function findRunOf(
  { db, workspace }: { readonly db: Queryable; readonly workspace: { readonly id: number } },
  { id }: { readonly id: number },
): Promise<RunSummary> {
  const run = await findRun(db, workspace.id, id);
  if (run === undefined) throw notFound("payout run");
  return run;
}
