import { z } from "zod";
import { parseDay } from "../../../../schemas/time/calendar.ts";
import { DAY_MS, INSTANT_MS_MAX, INSTANT_MS_MIN } from "../../../../schemas/time/zone.ts";
import { shownSchema, showTo } from "../../../access/visibility.ts";
import {
  currency,
  oneOf,
  recordId,
  shownCurrency,
  shownDay,
  shownMoney,
  shownTime,
} from "../../../fields/body-fields.ts";
import { listOf } from "../../../fields/bounded-list.ts";
import type { Role } from "../../../operation/permissions.ts";
import { PAYMENT_METHODS } from "../details/payment-details.ts";
import { PAYOUT_FORMATS } from "../details/payout-formats.ts";
import { HELD_REASONS } from "./held-reasons.ts";
import type { LineRow, RunSummary } from "./payout-runs.ts";

const IDS_MAX = 5_000;

export const RUN_STATUSES = ["draft", "approved", "paid", "failed", "cancelled"] as const;
export const LINE_STATUSES = ["pending", "held", "paid", "failed", "returned"] as const;

/** A day of the years that instants may have. */
export const runDay = z
  .string("expected a date")
  .refine((value) => {
    const at = (parseDay(value) ?? -1) * DAY_MS;
    return at >= INSTANT_MS_MIN && at <= INSTANT_MS_MAX;
  }, "expected a date such as 2026-12-15, from 1970 to 2099")
  .meta({ format: "date", examples: ["2026-12-15"] });

export const NewRunBody = z.strictObject({
  currency,
  methods: listOf(oneOf(...PAYMENT_METHODS), {
    expected: "expected a list of methods",
    max: PAYMENT_METHODS.length,
    tooMany: "names a method twice",
  })
    .optional()
    .meta({ description: "Left out or empty: every method" }),
  affiliate_ids: listOf(recordId, {
    expected: "expected a list of ids",
    max: IDS_MAX,
    tooMany: `expected at most ${IDS_MAX} ids`,
  })
    .min(1, "expected at least one id")
    .optional()
    .meta({ description: "Left out: every partner" }),
  format: oneOf(...PAYOUT_FORMATS)
    .nullable()
    .optional()
    .meta({ description: "The file that the run is for: lines that do not fit it are held" }),
  due_until: runDay.optional().meta({
    description:
      "Statements that are due by this day; today in the time zone of the workspace if left out",
  }),
  execution_date: runDay.meta({ description: "When the bank should pay" }),
});

const line = {
  id: z.int(),
  run_id: z.int(),
  reference: z.string().meta({
    description: "Names the line in every file and result",
    examples: ["P12L55"],
  }),
  affiliate_id: z.int(),
  affiliate_code: z.string(),
  affiliate_name: z.string(),
  method: z.enum(PAYMENT_METHODS),
  details: z.record(z.string(), z.string()).meta({ description: "With all but the ends left out" }),
  currency: shownCurrency,
  amount: shownMoney,
  statement_ids: z.array(z.int()),
  statements: z.array(z.string()).meta({ description: "Numbers of the statements" }),
  status: z.enum(LINE_STATUSES),
  reason: z.enum(HELD_REASONS).nullable().meta({ description: "Why the line is held" }),
  until: shownTime.nullable().meta({ description: "Until when it is held, if that is known" }),
  released_at: shownTime.nullable(),
  release_reason: z.string(),
  external_id: z
    .string()
    .nullable()
    .meta({ description: "What the bank or service calls the payment" }),
  fee: shownMoney.nullable(),
  error: z.string(),
  execution_date: shownDay,
  settled_at: shownTime
    .nullable()
    .meta({ description: "When the payment was paid, failed or came back" }),
};
export const ShownLine = shownSchema("payout_line", line).meta({ id: "PayoutLine" });

const summary = {
  id: z.int(),
  status: z.enum(RUN_STATUSES),
  currency: shownCurrency,
  methods: z.array(z.enum(PAYMENT_METHODS)),
  format: z.enum(PAYOUT_FORMATS).nullable(),
  due_until: shownDay,
  execution_date: shownDay,
  total: shownMoney.meta({ description: "Sum of the lines, without held lines" }),
  held_total: shownMoney,
  line_count: z.int(),
  held_count: z.int(),
  paid_count: z.int(),
  failed_count: z.int(),
  created_by: z.string(),
  approved_by: z.string(),
  created_at: shownTime,
  approved_at: shownTime.nullable(),
  ended_at: shownTime.nullable(),
};
export const ShownRunSummary = shownSchema("payout_run", summary).meta({ id: "PayoutRunSummary" });
export const ShownRun = shownSchema("payout_run", {
  ...summary,
  lines: z.array(ShownLine),
  held: z.array(ShownLine).meta({
    description:
      "Lines that are not paid. At approval they leave the run, and the next run may pay their statements",
  }),
}).meta({ id: "PayoutRun" });

/** A line that a run would have. */
const due = {
  affiliate_id: line.affiliate_id,
  affiliate_code: line.affiliate_code,
  affiliate_name: line.affiliate_name,
  method: line.method,
  details: line.details,
  amount: line.amount,
  statement_ids: line.statement_ids,
  reason: line.reason,
  until: line.until,
};
export const ShownDueLine = shownSchema("payout_line", due).meta({ id: "PayoutDueLine" });

export function showRun(
  role: Role,
  run: RunSummary,
  lines: readonly LineRow[],
): Record<string, unknown> {
  const shown = (which: readonly LineRow[]) => which.map((row) => showTo(role, "payout_line", row));
  return showTo(role, "payout_run", {
    ...run,
    lines: shown(lines.filter(({ status }) => status !== "held")),
    held: shown(lines.filter(({ status }) => status === "held")),
  });
}
