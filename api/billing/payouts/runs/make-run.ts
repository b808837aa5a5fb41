import { z } from "zod";
import { readBillingState } from "../../../../schemas/billing/billing-state.ts";
import { amountOf, formatAmount } from "../../../../schemas/money/amount.ts";
import type { Queryable } from "../../../../schemas/postgres/connect.ts";
import { inTransaction } from "../../../../schemas/postgres/transaction.ts";
import { formatDay } from "../../../../schemas/time/calendar.ts";
import { DAY_MS, zoneOf } from "../../../../schemas/time/zone.ts";
import { unrestrictedAdminWrite, unrestrictedStaff } from "../../../access/access-of-operations.ts";
import { showTo } from "../../../access/visibility.ts";
import { shownCurrency, shownDay, shownMoney } from "../../../fields/body-fields.ts";
import { currencyParam, wordParam } from "../../../http/query-fields.ts";
import { conflict } from "../../../operation/errors.ts";
import { type Operation, type OperationContext, operation } from "../../../operation/operation.ts";
import { detailsOf, maskOf, readPaymentRows } from "../details/payment-accounts.ts";
import { PAYMENT_METHODS } from "../details/payment-details.ts";
import { PAYOUT_FORMATS } from "../details/payout-formats.ts";
import { holdOf } from "./held-reasons.ts";
import { findRun, linesOfRun, lockPayouts } from "./payout-runs.ts";
import { NewRunBody, runDay, ShownDueLine, ShownRun, showRun } from "./run-fields.ts";
import {
  findDuePartners,
  insertLines,
  insertRun,
  type NewLine,
  type NewRun,
} from "./run-writes.ts";

/** Partners of a run: every file that a bank or service takes has room for them. */
const LINES_MAX = 5_000;

export const createPayoutRun: Operation = operation({
  name: "createPayoutRun",
  method: "POST",
  path: "/payout-runs",
  tag: "Payouts",
  summary: "Make a payout run",
  description:
    "A draft with a line for each partner that has approved statements which are due and in no other run. Partners that cannot be paid now are `held`, with the " +
    "reason. Nothing to pay answers 409, and so do more than 5,000 partners.",
  access: unrestrictedAdminWrite,
  input: { body: NewRunBody },
  output: z.object({ data: ShownRun }),
  status: 201,
  keepsAnswer: true,
  failures: ["conflict", "unavailable"],
  run: async (context, { body }) => {
    const { db, workspace, principal } = context;
    const run: NewRun = {
      currency: body.currency,
      methods: [...new Set(body.methods)],
      affiliateIds: body.affiliate_ids,
      format: body.format ?? null,
      dueUntil: body.due_until ?? today(context),
      executionDate: body.execution_date,
    };
    const id = await inTransaction(db, async (tx) => {
      await lockPayouts(tx, workspace.id);
      const lines = await judgedLines(tx, context, run);
      if (lines.length === 0)
        throw conflict("due_until", `no approved statement in ${run.currency} is due and free`);
      const made = await insertRun(tx, workspace.id, run, principal.actor);
      const target = { id: made, workspaceId: workspace.id, currency: run.currency };
      await insertLines(tx, target, lines);
      return made;
    });
    const made = await findRun(db, workspace.id, id);
    if (made === undefined) throw new Error("the run was committed");
    return { body: { data: showRun(principal.role, made, await linesOfRun(db, id)) } };
  },
});

const methodsParam = z
  .string()
  .transform((text) => text.split(","))
  .pipe(
    z
      .array(z.enum(PAYMENT_METHODS, `expected methods of ${PAYMENT_METHODS.join(", ")}`))
      .max(PAYMENT_METHODS.length),
  )
  .optional()
  .meta({ description: "Comma-separated methods" });

export const previewPayoutRun: Operation = operation({
  name: "previewPayoutRun",
  method: "GET",
  path: "/payout-runs/due",
  tag: "Payouts",
  summary: "Preview a payout run",
  description:
    "Who a run with these terms would pay now, and who it would hold and why, in the currency of the workspace if none is named. Makes nothing.",
  access: unrestrictedStaff,
  input: {
    query: z.object({
      currency: currencyParam,
      methods: methodsParam,
      format: wordParam(...PAYOUT_FORMATS),
      due_until: runDay.optional(),
    }),
  },
  output: z.object({
    data: z.strictObject({
      currency: shownCurrency,
      due_until: shownDay,
      total: shownMoney,
      held_total: shownMoney,
      lines: z.array(ShownDueLine),
      held: z.array(ShownDueLine),
    }),
  }),
  status: 200,
  failures: ["conflict", "unavailable"],
  run: async (context, { query }) => {
    const { currency = context.workspace.currency, methods = [], format = null } = query;
    const dueUntil = query.due_until ?? today(context);
    const run = {
      currency,
      methods,
      affiliateIds: undefined,
      format,
      dueUntil,
      executionDate: dueUntil,
    };
    const lines = await judgedLines(context.db, context, run);
    const held = lines.filter(({ hold }) => hold !== undefined);
    const paid = lines.filter(({ hold }) => hold === undefined);
    const { role } = context.principal;
    const shown = (which: readonly DueLine[]) =>
      which.map((row) => showTo(role, "payout_line", shownDue(row)));
    return {
      body: {
        data: {
          currency,
          due_until: dueUntil,
          total: sumOf(paid),
          held_total: sumOf(held),
          lines: shown(paid),
          held: shown(held),
        },
      },
    };
  },
});

type DueLine = NewLine & { readonly affiliate_code: string; readonly affiliate_name: string };

function shownDue({ masked, hold, ...line }: DueLine): Record<string, unknown> {
  return { ...line, details: masked, reason: hold?.reason ?? null, until: hold?.until ?? null };
}

function sumOf(lines: readonly DueLine[]): string {
  return formatAmount(lines.reduce((sum, { amount }) => sum + amountOf(amount), 0n));
}

/** Partners that are due, each with the reason if it is held. @throws {ApiError} `conflict` for too many. */
async function judgedLines(
  db: Queryable,
  { workspace, secretKeys, nowMs }: OperationContext,
  run: NewRun,
): Promise<DueLine[]> {
  const due = await findDuePartners(db, workspace.id, run, LINES_MAX + 1);
  if (due.length > LINES_MAX)
    throw conflict(
      "affiliate_ids",
      `more than ${LINES_MAX} partners are due: name methods or partners, or an earlier due_until`,
    );
  const rows = await readPaymentRows(db, workspace.id, { ids: due.map((one) => one.affiliate_id) });
  const state = await readBillingState(db, workspace.id);
  return due.flatMap((partner) => {
    const row = rows.get(partner.affiliate_id);
    if (row === undefined) return [];
    const details = detailsOf(secretKeys, row);
    const { currency, format } = run;
    return {
      ...partner,
      affiliate_code: row.affiliate_code,
      affiliate_name: row.affiliate_name,
      method: row.method,
      masked: row.masked ?? maskOf(details),
      hold: holdOf({ row, details, currency, format, state, nowMs, releasedAt: null }),
    };
  });
}

function today({ workspace, nowMs }: OperationContext): string {
  return formatDay(zoneOf(workspace.timezone)?.dayAt(nowMs) ?? Math.floor(nowMs / DAY_MS));
}
