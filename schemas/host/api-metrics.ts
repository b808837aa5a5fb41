import { counter, gauge, histogram } from "./metric-definition.ts";

export const API_METRICS = {
  api_request_seconds: histogram(
    "Time until an answer was sent, by operation and status class; 499 is a client that left.",
    "freshness",
    { operation: "name of the operation, or none", class: ["2xx", "3xx", "4xx", "5xx"] },
  ),
  api_in_flight: gauge("Requests being worked on."),
  api_refused_total: counter("Answers with an error, by its code.", { cause: "code of the error" }),
  clickhouse_nodes_unwell: gauge(
    "Nodes of the ClickHouse cluster that do not answer, take no inserts (without Keeper), or are more than 30 s behind. Absent without a cluster.",
    { state: ["away", "readonly", "behind"] },
  ),
  imports_waiting: gauge(
    "Imports of the whole installation that no process carries out, when this process last looked.",
  ),
  import_rows_total: counter(
    "Rows of imports that this process has written, or that were refused only then.",
    {
      outcome: ["created", "updated", "refused"],
    },
  ),
  imports_ended_total: counter("Imports that have ended, by how.", {
    outcome: ["done", "refused", "failed", "stopped"],
  }),
  report_seconds: histogram(
    "Time that a report held its place at ClickHouse, from the first query to the last byte.",
    "freshness",
  ),
} as const;
