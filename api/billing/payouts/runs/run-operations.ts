import { z } from "zod";
import { readBillingState } from "../../../../schemas/billing/billing-state.ts";
import { inTransaction } from "../../../../schemas/postgres/transaction.ts";
import { unrestrictedAdminWrite, unrestrictedStaff } from "../../../access/access-of-operations.ts";
import { showTo } from "../../../access/visibility.ts";
import { flag, text } from "../../../fields/body-fields.ts";
import { openPage } from "../../../http/page.ts";
import { pathId } from "../../../http/path-fields.ts";
import { currencyParam, pageParams, wordParam } from "../../../http/query-fields.ts";
import { conflict, notFound } from "../../../operation/errors.ts";
import { type Operation, operation } from "../../../operation/operation.ts";
import { findRunOf } from "./approve-run.ts";
import { needFourEyes } from "./four-eyes.ts";
import { FIRM_REASONS } from "./held-reasons.ts";
import { findLine, linesOfRun, listOwnPayouts, listRunRows, lockPayouts } from "./payout-runs.ts";
import {
  LINE_STATUSES,
  RUN_STATUSES,
  ShownLine,
  ShownRun,
  ShownRunSummary,
  showRun,
} from "./run-fields.ts";
import { findRunUse } from "./run-use.ts";
import { freeStatements, releaseHeldLine, setRunStatus } from "./run-writes.ts";

const REASON_MAX = 500;
const path = z.object({ id: pathId });

export const listPayoutRuns: Operation = operation({
  name: "listPayoutRuns",
  method: "GET",
  path: "/payout-runs",
  tag: "Payouts",
  summary: "List payout runs",
  description: "Newest first, without their lines.",
  access: unrestrictedStaff,
  input: {
    query: z.object({ ...pageParams, status: wordParam(...RUN_STATUSES), currency: currencyParam }),
  },
  output: z.object({ data: z.array(ShownRunSummary), next_cursor: z.string().nullable() }),
  status: 200,
  run: async (context, { query }) => {
    const page = openPage(context, "listPayoutRuns", query);
    const rows = await listRunRows(context.db, context.workspace.id, page);
    return {
      body: page.close(rows, {
        positionOf: (row) => ({ at: row.created_at, id: String(row.id) }),
        show: (row) => showTo(context.principal.role, "payout_run", row),
      }),
    };
  },
});

export const getPayoutRun: Operation = operation({
  name: "getPayoutRun",
  method: "GET",
  path: "/payout-runs/{id}",
  tag: "Payouts",
  summary: "Get a payout run",
  description: "With all of its lines; held lines are apart, with the reason.",
  access: unrestrictedStaff,
  input: { path },
  output: z.object({ data: ShownRun }),
  status: 200,
  findResource: findRunOf,
  run: async ({ db, principal }, { resource }) => ({
    body: { data: showRun(principal.role, resource, await linesOfRun(db, resource.id)) },
  }),
});

export const cancelPayoutRun: Operation = operation({
  name: "cancelPayoutRun",
  method: "POST",
  path: "/payout-runs/{id}/cancel",
  tag: "Payouts",
  summary: "Cancel a payout run",
  description:
    "A draft, or an approved run without results. Its statements are free for the next run. If a file of the run was exported, `file_was_not_sent` must be " +
    "true: a bank that has the file would pay, and the next run would pay again.",
  access: unrestrictedAdminWrite,
  input: { path, body: z.strictObject({ file_was_not_sent: flag.optional() }) },
  bodyDefaults: { file_was_not_sent: false },
  output: z.object({ data: ShownRun }),
  status: 200,
  keepsAnswer: true,
  failures: ["conflict"],
  findResource: findRunOf,
  run: async (context, { body, resource: { id } }) => {
    const { db, workspace, principal } = context;
    await inTransaction(db, async (tx) => {
      await lockPayouts(tx, workspace.id);
      const { status } = await findRunOf({ db: tx, workspace }, { id });
      const { has_results: hasResults, has_files: hasFiles } = await findRunUse(tx, id);
      if ((status !== "draft" && status !== "approved") || hasResults)
        throw conflict("status", `this run is ${hasResults ? "partly settled" : status}`);
      if (hasFiles && body.file_was_not_sent !== true)
        throw conflict(
          "file_was_not_sent",
          "a file of this run was exported: say that nobody sent it",
        );
      await freeStatements(tx, id, "all");
      await setRunStatus(tx, id, "cancelled");
    });
    const run = await findRunOf(context, { id });
    return { body: { data: showRun(principal.role, run, await linesOfRun(db, id)) } };
  },
});

export const releasePayoutLine: Operation = operation({
  name: "releasePayoutLine",
  method: "POST",
  path: "/payout-lines/{id}/release",
  tag: "Payouts",
  summary: "Release a held line",
  description:
    "Of a draft. The line is paid with the run. A line without details that can be paid to is not released, and a later change of the details holds it again. " +
    "With `approval` `four_eyes`, whoever made the run or changed the details is refused.",
  access: unrestrictedAdminWrite,
  input: {
    path,
    body: z.strictObject({ reason: text(REASON_MAX).min(1, "expected a reason") }),
  },
  output: z.object({ data: ShownLine }),
  status: 200,
  keepsAnswer: true,
  failures: ["conflict"],
  findResource: async ({ db, workspace }, { id }) => {
    const line = await findLine(db, workspace.id, id);
    if (line === undefined) throw notFound("payout line");
    return line;
  },
  run: async (context, { body, resource }) => {
    const { db, workspace, principal } = context;
    const { id, run_id: runId, affiliate_id: affiliateId } = resource;
    await inTransaction(db, async (tx) => {
      await lockPayouts(tx, workspace.id);
      const run = await findRunOf({ db: tx, workspace }, { id: runId });
      const line = await findLine(tx, workspace.id, id);
      if (run.status !== "draft") throw conflict("status", `its run is ${run.status}`);
      if (line?.status !== "held") throw conflict("status", "the line is not held");
      if (FIRM_REASONS.has(line.reason ?? ""))
        throw conflict(
          "reason",
          `${line.reason ?? ""}: the line cannot be paid. Correct the partner's details and make a new run`,
        );
      const state = await readBillingState(tx, workspace.id);
      await needFourEyes(tx, context, { state, runId, affiliateIds: [affiliateId] });
      await releaseHeldLine(tx, { id, reason: body.reason }, principal.actor);
    });
    const line = await findLine(db, workspace.id, id);
    return { body: { data: showTo(principal.role, "payout_line", line ?? resource) } };
  },
});

export const listOwnPayoutLines: Operation = operation({
  name: "listOwnPayouts",
  method: "GET",
  path: "/me/payouts",
  tag: "Payouts",
  summary: "List the payouts of the own account",
  description: "What was paid or is on its way, newest first.",
  access: { roles: ["partner"], isWrite: false },
  input: {
    query: z.object({
      ...pageParams,
      status: wordParam(...LINE_STATUSES),
      currency: currencyParam,
    }),
  },
  output: z.object({ data: z.array(ShownLine), next_cursor: z.string().nullable() }),
  status: 200,
  run: async (context, { query }) => {
    const page = openPage(context, "listOwnPayouts", query);
    const rows = await listOwnPayouts(context.db, context.principal.affiliate?.id ?? 0, page);
    return {
      body: page.close(rows, {
        positionOf: (row) => ({ at: row.created_at, id: String(row.id) }),
        show: (row) => showTo(context.principal.role, "payout_line", row),
      }),
    };
  },
});
