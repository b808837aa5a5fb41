import { z } from "zod";
import type { Cause } from "../../../schemas/events/cause.ts";
import {
  CONVERSION_STATUSES,
  type ConversionStatus,
} from "../../../schemas/events/conversion-words.ts";
import { type Amount, formatAmount } from "../../../schemas/money/amount.ts";
import type { Queryable } from "../../../schemas/postgres/connect.ts";
import { retryConflicts } from "../../../schemas/postgres/retry-conflicts.ts";
import { Keyed } from "../report/first-answer.ts";
import { jsonParameter } from "../report/json-parameter.ts";
import type { CapCount } from "./cap-counts.ts";
import type { ConversionState, Recording } from "./conversions.ts";

/** The state that a later report asks for. */
export type ConversionChange = {
  readonly status: ConversionStatus;
  readonly status_reason: string;
  readonly revenue: Amount;
  readonly payout: Amount;
  readonly sale_amount: Amount;
  readonly payout_given: boolean;
  readonly revenue_given: boolean;
  /** Present if the change ends a hold without approving. */
  readonly hold_until?: null;
};

/** A change, the report that asks for it, and the caps that the conversion counts against if the change takes back its rejection. */
export type ReportedChange = {
  readonly change: ConversionChange;
  readonly fingerprint: string;
  readonly askedStatus: ConversionStatus | null;
  readonly caps: readonly CapCount[];
  readonly timezone: string;
  readonly cause?: Cause | undefined;
  /** Includes the `details` of the answer, which is stored in the same transaction (G203). */
  readonly key: Recording["key"];
};

const ChangeOutcome = z.discriminatedUnion("outcome", [
  /** The row no longer has the version that the change was decided from. */
  z.object({ outcome: z.literal("stale") }),
  z.object({
    /** `capped`: a cap is reached, and the conversion stays rejected. */
    outcome: z.enum(["applied", "capped"]),
    status: z.enum(CONVERSION_STATUSES),
    status_reason: z.string(),
  }),
  /** Another report came with the same idempotency key; nothing is written. */
  Keyed,
]);
export type ChangeOutcome = z.infer<typeof ChangeOutcome>;

const CHANGE = {
  name: "change-by-report",
  text: "select change_by_report($1, $2, $3::jsonb, $4::jsonb, $5) as outcome",
};
const KEYED = {
  name: "change-by-keyed-report",
  text: "select change_by_keyed_report($1::jsonb, $2, $3, $4::jsonb, $5::jsonb, $6) as outcome",
};
const TRY = {
  name: "try-change-by-report",
  text: "select try_change_by_report($1, $2, $3::jsonb, $4::jsonb, $5) as outcome",
};

/** Writes row, history, counters and outbox in one transaction, committed when this resolves (P14). A test stores nothing (G120). */
export async function changeByReport(
  db: Queryable,
  from: Pick<ConversionState, "id" | "version">,
  reported: ReportedChange,
  { isTest }: { readonly isTest: boolean },
): Promise<ChangeOutcome> {
  const { change, fingerprint, askedStatus } = reported;
  const columns = {
    ...change,
    revenue: formatAmount(change.revenue),
    payout: formatAmount(change.payout),
    sale_amount: formatAmount(change.sale_amount),
    change_fingerprint: fingerprint,
    cause: reported.cause,
    ...(askedStatus === null ? {} : { asked_status: askedStatus }),
  };
  const values = [
    from.id,
    from.version,
    jsonParameter(columns),
    jsonParameter(reported.caps),
    reported.timezone,
  ];
  const statement =
    reported.key === undefined
      ? { ...(isTest ? TRY : CHANGE), values }
      : { ...KEYED, values: [jsonParameter(reported.key), ...values] };
  const { rows } = await retryConflicts(() => db.query<{ outcome: unknown }>(statement));
  return ChangeOutcome.parse(rows[0]?.outcome);
}
