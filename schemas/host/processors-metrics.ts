import { POSTBACK_RESULTS } from "../events/postback-request.ts";
import { counter, gauge, histogram } from "./metric-definition.ts";

const KIND_OF_DELIVERY = { kind: ["postback", "webhook"] } as const;
const STORES = ["postgres", "clickhouse"] as const;
const FACT_TABLES = ["conversion_fact", "ad_cost_fact"] as const;
const TASKS = [
  "holds",
  "log-days",
  "retention",
  "reference-rates",
  "conversion-retention",
  "click-retention",
  "erasures",
  "statements",
  "facts-audit",
  "producer-numbers",
  "invoices",
  "ledger-clicks",
  "ledger-audit",
] as const;
export type ScheduledTask = (typeof TASKS)[number];

/** Metrics of the role `conversions`. */
const CONVERSION_METRICS = {
  conversions_reports_total: counter("Reports answered, by endpoint and result.", {
    endpoint: ["pb", "px"],
    result: POSTBACK_RESULTS,
  }),
  conversions_report_seconds: histogram(
    "Time to decide and record a report, by endpoint.",
    "freshness",
    { endpoint: ["pb", "px"] },
  ),
  conversions_commands_total: counter("Commands of the api, by kind of reply.", {
    kind: ["created", "changed", "refused", "unavailable"],
  }),
  conversions_click_lookups_total: counter("Look-ups of landing pages, by kind of reply.", {
    kind: ["found", "none", "unavailable"],
  }),
  conversions_under_way: gauge("Reports with a token, commands and log rows being worked on."),
  conversions_strangers_under_way: gauge("Pixels and look-ups of landing pages being worked on."),
  conversions_log_rows_lost: gauge("Rows of the inbound log that were dropped."),
  conversions_log_rows_merged: gauge(
    "Refusals without a valid token that share a row of the inbound log, because there were too many for a row each.",
  ),
  conversions_coupon_clicks_passed_on_total: counter(
    "Clicks of coupons passed to another ingress because the first did not record them.",
  ),
  conversions_coupon_click_failures_total: counter(
    "Rounds of the check for missing clicks of coupons that failed.",
  ),
  caps_rounds_total: counter("Rounds that published the reached caps."),
  caps_round_failures_total: counter("Rounds that failed."),
  caps_watched: gauge("Conversion, payout and revenue caps."),
} as const;

/** Metrics of the role `facts`. */
const FACTS_METRICS = {
  facts_copied_total: counter(
    "Changes of conversions and ad costs copied to ClickHouse, repeats included.",
  ),
  facts_failed_total: counter("Attempts to copy that failed and are repeated."),
  facts_behind_seconds: gauge(
    "Time since the outbox that is furthest behind was last empty; absent without the lease.",
  ),
} as const;

/** Metrics of the role `delivery`. */
const DELIVERY_METRICS = {
  delivery_attempts_total: counter(
    "Deliveries handled, by kind and result. 'refused': not sent. 'unrecorded': another worker had leased it before the attempt ended.",
    {
      ...KIND_OF_DELIVERY,
      result: ["delivered", "retrying", "failed", "refused", "unrecorded"],
    },
  ),
  delivery_attempt_seconds: histogram(
    "Duration of a delivery attempt, by kind.",
    "freshness",
    KIND_OF_DELIVERY,
  ),
  delivery_endpoints_disabled_total: counter(
    "Endpoints that were disabled because they kept failing, by kind.",
    KIND_OF_DELIVERY,
  ),
  delivery_faults_total: counter("Statements on the queue that failed and are repeated."),
  delivery_under_way: gauge("Requests under way."),
  delivery_queue_depth: gauge("Deliveries that wait, up to 100,000."),
  delivery_oldest_due_seconds: gauge("Time since the oldest due delivery became due."),
} as const;

/** Metrics of the role `schedule`. */
const SCHEDULE_METRICS = {
  schedule_failures_total: counter("Tasks that failed, by name.", { task: TASKS }),
  schedule_rows_total: counter("Rows that a task has handled, by name.", { task: TASKS }),
  schedule_last_success_seconds: gauge(
    "When a task last succeeded in this process, or else when the process started, in seconds since 1970.",
    { task: TASKS },
  ),
  schedule_interval_seconds: gauge("How often a task must succeed.", { task: TASKS }),
  facts_audits_total: counter("Audits of facts that finished, by scope.", {
    scope: ["recent", "all"],
  }),
  facts_audit_differences_total: counter(
    "Records whose copy in ClickHouse differed from Postgres, by table and kind.",
    { table: FACT_TABLES, kind: ["missing", "older", "changed", "ahead", "ghost"] },
  ),
  facts_differences: gauge(
    "Differences of the last finished audit of facts, repaired ones included; absent until this process finished one.",
  ),
  backup_age_seconds: gauge(
    "Time since the last noted backup, by store; absent for a store without one.",
    { store: STORES },
  ),
  producer_numbers_left: gauge(
    "Producer numbers for journals of ingress: fresh ones were never given out, free ones may be given out again.",
    { kind: ["fresh", "free"] },
  ),
  facts_store_went_back_total: counter(
    "Times that a store was found in an older state than the other store has recorded, by store.",
    { store: STORES },
  ),
} as const;

/** Metrics of the ledger, which the role `schedule` keeps. */
const LEDGER_METRICS = {
  ledger_posted_total: counter("Transactions posted, by kind.", { kind: ["conversion", "clicks"] }),
  ledger_failed_total: counter("Rounds of posting that failed and are repeated."),
  ledger_behind_seconds: gauge(
    "Time since all changes of conversions were last found posted; 0 while nothing waits.",
  ),
  ledger_violations: gauge(
    "Violations that the last audits of the books of all workspaces found, read once a minute; absent while they cannot be read.",
  ),
} as const;

/** Metrics of every processor, whatever its roles. */
const STORE_METRICS = {
  incarnation_mismatch: gauge(
    "1 while Postgres, ClickHouse and the streams belong to different installations.",
  ),
  stores_postgres_went_back: gauge(
    "Times that Postgres was behind what the other stores have seen of it, because it was restored.",
  ),
} as const;

export const PROCESSORS_METRICS = {
  ...STORE_METRICS,
  ...CONVERSION_METRICS,
  ...FACTS_METRICS,
  ...DELIVERY_METRICS,
  ...SCHEDULE_METRICS,
  ...LEDGER_METRICS,
} as const;
