import assert from "node:assert";
import { z } from "zod";
import type { CauseOfChange } from "../../../schemas/events/cause.ts";
import {
  CONVERSION_METHODS,
  CONVERSION_STATUSES,
  type ConversionStatus,
} from "../../../schemas/events/conversion-words.ts";
import type { CouponClick } from "../../../schemas/events/coupon-click.ts";
import { type Amount, amountOf } from "../../../schemas/money/amount.ts";
import type { Queryable } from "../../../schemas/postgres/connect.ts";
import { Keyed } from "../report/first-answer.ts";
import { jsonParameter } from "../report/json-parameter.ts";
import type { ReportKey } from "../report/report-key.ts";
import type { CapCount } from "./cap-counts.ts";

/** A row of `conversion` to insert: names are its columns, money is text, times are ISO. */
export type NewConversion = {
  readonly id: string;
  readonly workspace_id: number;
  readonly click_id: string | null;
  readonly offer_id: number;
  readonly affiliate_id: number | null;
  readonly advertiser_id: number;
  readonly smart_link_id: number | null;
  readonly event_id: number;
  readonly event_code: string;
  readonly is_private: boolean;
  readonly status: ConversionStatus;
  readonly status_reason: string;
  readonly is_duplicate: false;
  readonly cap_alert: false;
  readonly revenue: string;
  readonly payout: string;
  readonly sale_amount: string;
  readonly currency: string;
  readonly payout_type: string;
  readonly payout_rate: string;
  readonly payout_given: boolean;
  readonly revenue_type: string;
  readonly revenue_rate: string;
  readonly revenue_given: boolean;
  readonly adv_txid: string | null;
  readonly method: "s2s" | "api" | "js" | "pixel";
  readonly click_ts: string | null;
  readonly conv_ts: string;
  readonly hold_until: string | null;
  readonly click: Readonly<Record<string, string>>;
  readonly conv_ip: string | null;
  readonly params: Readonly<Record<string, string>>;
  readonly notes: string;
  readonly email_hash: string | null;
  readonly phone_hash: string | null;
  readonly holds_click: boolean;
  readonly holds_txid: boolean;
  /** As `holds_txid`, on an offer whose order numbers are unique for each event (G220). */
  readonly holds_event_txid: boolean;
  /** Fingerprint of the report that makes the conversion (see reportFingerprint); null if no report does. */
  readonly report_fingerprint: string | null;
  readonly asked_status: ConversionStatus | null;
};

/** How a new report treats an existing row: records a duplicate, returns the row so that the report can change it, or is refused. */
export type OnRepeat = "duplicate" | "existing" | "conflict";

/** How many conversions per day one address and its network may bring; null for no limit (G101). */
export type AddressLimit = {
  readonly address: string;
  readonly same_max: number | null;
  readonly network_max: number | null;
};

/** How to record; see schemas/postgres/functions/record_conversion.sql. */
export type RecordPlan = {
  readonly on_txid: OnRepeat;
  readonly on_click: OnRepeat;
  readonly on_none: "insert" | "none";
  readonly latest_of_click: boolean;
  /** Whether the request says which event it means: then it changes no conversion of another event (G220). */
  readonly names_event: boolean;
  readonly may_be_multiple: boolean;
  readonly caps: readonly CapCount[];
  readonly address_limit: AddressLimit | null;
  readonly timezone: string;
  readonly actor: "postback" | "pixel" | "api";
  readonly key_id: number | null;
  /** The request that asks for it: its deliveries carry its ID. */
  readonly cause?: CauseOfChange | undefined;
};

const amount = z.string().transform((stored): Amount => amountOf(stored));

/** The state from which a change of a conversion is decided. */
export const ConversionState = z.object({
  id: z.string(),
  workspace_id: z.int(),
  offer_id: z.int(),
  affiliate_id: z.int().nullable(),
  advertiser_id: z.int(),
  event_code: z.string(),
  status: z.enum(CONVERSION_STATUSES),
  status_reason: z.string(),
  is_duplicate: z.boolean(),
  revenue: amount,
  payout: amount,
  sale_amount: amount,
  currency: z.string(),
  payout_type: z.enum(["cpa", "cps", "cpc"]),
  payout_rate: amount,
  payout_given: z.boolean(),
  revenue_type: z.enum(["rpa", "rps", "rpc"]),
  revenue_rate: amount,
  revenue_given: z.boolean(),
  adv_txid: z.string().nullable(),
  method: z.enum(CONVERSION_METHODS),
  conv_ts: z.string(),
  version: z.int(),
  /** Waiting for the end of its hold. */
  is_held: z.boolean(),
  /**
   * Fingerprint of the report that made the conversion, and of the last report that changed it. Null where no report did, and on rows older
   * than fingerprints.
   */
  report_fingerprint: z.string().nullable(),
  change_fingerprint: z.string().nullable(),
  /** The status that the last of these reports named. */
  asked_status: z.enum(CONVERSION_STATUSES).nullable(),
});
export type ConversionState = z.infer<typeof ConversionState>;

const RecordOutcome = z.discriminatedUnion("outcome", [
  z.object({
    outcome: z.literal("recorded"),
    id: z.string(),
    status: z.enum(CONVERSION_STATUSES),
    status_reason: z.string(),
    is_duplicate: z.boolean(),
    /** Why it is a duplicate, where that is not plain. */
    details: z.record(z.string(), z.string()).optional(),
  }),
  z.object({
    outcome: z.literal("existing"),
    found_by: z.enum(["report", "txid", "click"]),
    row: ConversionState,
  }),
  z.object({ outcome: z.literal("conflict") }),
  z.object({ outcome: z.literal("none") }),
  /** Another report came with the same idempotency key; nothing is written. */
  Keyed,
]);
export type RecordOutcome = z.infer<typeof RecordOutcome>;

/** The click of a coupon, the ingress that may record it, and until when by that ingress's clock. */
type PendingCouponClick = {
  readonly click: CouponClick;
  readonly producer: number;
  readonly until_ms: number;
};

/** A conversion to record, and how. */
export type Recording = {
  readonly row: NewConversion;
  readonly plan: RecordPlan;
  /** Stored in the same transaction until the click is found in ClickHouse (TRK-037). */
  readonly coupon_click?: PendingCouponClick | undefined;
  /** Key of the report, with the `details` of the answer, which is stored in the same transaction (G203). */
  readonly key?: (ReportKey & { readonly details: Readonly<Record<string, unknown>> }) | undefined;
};

const RecordOutcomes = z.array(RecordOutcome);

/**
 * Writes row, counters, history and outbox of all recordings in one transaction, committed when this resolves (P14, P16, P17). Outcomes
 * are in the same order. If one recording fails, the call throws for all of them.
 */
export async function recordConversions(
  db: Queryable,
  batch: readonly Recording[],
): Promise<readonly RecordOutcome[]> {
  const { rows } = await db.query<{ outcomes: unknown }>({
    name: "record-conversions",
    text: "select record_conversions($1::jsonb) as outcomes",
    values: [
      jsonParameter(
        batch.map(({ row, plan, key, coupon_click }) => ({ row, plan, key, coupon_click })),
      ),
    ],
  });
  const outcomes = RecordOutcomes.parse(rows[0]?.outcomes);
  assert(outcomes.length === batch.length, "every row of a batch has an outcome");
  return outcomes;
}

/** The outcome that {@link recordConversions} would have now; stores nothing (`test=1`, G120). */
export async function tryConversion(
  db: Queryable,
  { row, plan }: Recording,
): Promise<RecordOutcome> {
  const { rows } = await db.query<{ outcome: unknown }>({
    name: "try-conversion",
    text: "select try_conversion($1::jsonb, $2::jsonb) as outcome",
    values: [jsonParameter(row), jsonParameter(plan)],
  });
  return RecordOutcome.parse(rows[0]?.outcome);
}

export async function findConversion(
  db: Queryable,
  id: string,
): Promise<ConversionState | undefined> {
  const { rows } = await db.query<{ state: unknown }>({
    name: "find-conversion",
    text: "select conversion_state(c) as state from conversion c where c.id = $1",
    values: [id],
  });
  return rows[0] === undefined ? undefined : ConversionState.parse(rows[0].state);
}

const Recorded = z.object({
  workspace_id: z.int(),
  offer_id: z.int(),
  click_id: z.string().nullable(),
  status: z.enum(CONVERSION_STATUSES),
  status_reason: z.string(),
  is_duplicate: z.boolean(),
});
export type Recorded = z.infer<typeof Recorded>;

/** The recorded result of the report with this id; undefined while there is none. */
export async function findRecorded(db: Queryable, id: string): Promise<Recorded | undefined> {
  const { rows } = await db.query({
    name: "find-recorded",
    text: `select c.workspace_id, c.offer_id, c.click_id, c.status, c.status_reason, c.is_duplicate from conversion c where c.id = $1`,
    values: [id],
  });
  return rows[0] === undefined ? undefined : Recorded.parse(rows[0]);
}

export type StatusOutcome = {
  readonly id: string;
  readonly outcome: "updated" | "duplicate" | "not-found";
  readonly status: string;
  readonly status_reason: string;
};

/** Changes the status or the amounts of all these conversions in one transaction, each id once, in the given order (G94). */
export async function setConversionStatus(
  db: Queryable,
  order: {
    readonly workspaceId: number;
    readonly ids: readonly string[];
    readonly change: {
      readonly status?: string;
      readonly sale_amount?: string | undefined;
      readonly payout?: string | undefined;
      readonly revenue?: string | undefined;
      readonly status_reason: string;
      readonly notes?: string;
      readonly cause?: CauseOfChange | undefined;
    };
    readonly rejectDuplicates: boolean;
    readonly keyId: number | null;
  },
): Promise<StatusOutcome[]> {
  const { rows } = await db.query<StatusOutcome>({
    name: "set-conversion-status",
    text: "select id, outcome, status, status_reason from set_conversion_status($1, $2::uuid[], $3::jsonb, $4, $5)",
    values: [
      order.workspaceId,
      order.ids,
      jsonParameter(order.change),
      order.rejectDuplicates,
      order.keyId,
    ],
  });
  return rows;
}
