import { LANDING_RESULTS } from "../events/inbound-call.ts";
import { POSTBACK_RESULTS } from "../events/postback-request.ts";
import { counter, gauge, histogram } from "./metric-definition.ts";

const LANE = { lane: "number of the lane" } as const;

export const INGRESS_METRICS = {
  ingress_answers_total: counter("Answers by status class.", {
    class: ["1xx", "2xx", "3xx", "4xx", "5xx"],
  }),
  ingress_request_seconds: histogram(
    "Time in the handler, by path; of links and pages one in 16 requests is measured.",
    "requests",
    { route: "path" },
  ),
  ingress_connections: gauge("Open connections."),
  ingress_refused_total: counter("Requests refused by the server instead of a route, by cause.", {
    cause: [
      "wrong_method",
      "too_large",
      "too_many",
      "failed",
      "rate_limited",
      "ambiguous",
      "length_required",
      "not_found",
    ],
  }),
  ingress_handler_faults_total: counter("Requests whose handler failed."),
  ingress_requests_in_flight: gauge("Requests that wait for another process."),
  ingress_landing_calls_total: counter(
    "Calls of /lp by result: the source of the click, or why there is none.",
    { result: LANDING_RESULTS },
  ),
  ingress_user_agents_guessed_total: counter(
    "New user agents read by a few words only, because too many came at once.",
  ),
  ingress_records_total: counter("Records taken, on disk or not.", LANE),
  ingress_records_shipped_total: counter("Records acknowledged by JetStream.", LANE),
  ingress_records_lost_total: counter("Records that are in no journal."),
  ingress_clicks_unrecorded_total: counter(
    "Records that were answered while neither disk nor JetStream had them.",
  ),
  ingress_journal_write_faults_total: counter("Records the disk did not take."),
  ingress_journal_sync_faults_total: counter("Times that a sync of the disk failed."),
  ingress_unstored_records: gauge(
    "Records taken since the start that no click writer has reported as stored.",
    LANE,
  ),
  ingress_oldest_unstored_seconds: gauge("Age of the oldest of them; 0 without one.", LANE),
  ingress_producer_twin_total: counter(
    "Times that another process was found with the producer number of this one.",
  ),
  ingress_journal_append_seconds: histogram(
    "Time to put a record into the journal; one in 16 is measured.",
    "disk",
  ),
  ingress_journal_sync_seconds: histogram("Time until a sync of the disk was done.", "disk"),
  ingress_journal_bytes: gauge("Size of the journal's segments since the start."),
  ingress_journal_disk_free_bytes: gauge("Free bytes of the journal's disk, the reserve included."),
  ingress_journal_segments: gauge("Segments on disk."),
  ingress_journal_room_bytes: gauge(
    "Bytes that the journal may still use on its disk; at 0 clicks go to JetStream directly.",
  ),
  ingress_ship_depth: gauge("Records not yet acknowledged by JetStream.", LANE),
  ingress_publish_seconds: histogram("Time until JetStream acknowledged a message.", "requests"),
  ingress_publish_retries_total: counter("Messages that were sent again."),
  ingress_reshipped_ranges_total: counter("Ranges shipped again."),

  ingress_pixels_kept_total: counter("Pixels kept to be recorded later."),
  ingress_pixels_recorded_total: counter("Kept pixels, by their outcome.", {
    result: POSTBACK_RESULTS,
  }),
  ingress_pixels_given_up_total: counter("Pixels given up, by reason.", {
    reason: ["full", "disk", "unreadable", "fault"],
  }),
  ingress_pixel_disk_faults_total: counter("Faults of the disk."),
  ingress_pixels_waiting: gauge("Pixels to be recorded later."),
  ingress_pixels_bytes: gauge("Disk space of kept pixels."),

  ingress_inbound_log_kept_total: counter("Calls sent and stored."),
  ingress_inbound_log_merged_total: counter(
    "Refused calls counted in a row of their kind, because there were too many for a row each.",
  ),
  ingress_inbound_log_dropped_total: counter("Calls lost, by reason.", {
    reason: ["full", "refused", "end"],
  }),
  ingress_inbound_log_waiting: gauge("Calls not yet sent to the inbound log."),

  ingress_notices_received_total: counter("Notices received, by kind.", {
    kind: ["totals", "taken", "reached"],
  }),
  ingress_notices_undecodable_total: counter("Notices that could not be decoded."),
  ingress_clicks_published_total: counter("Clicks published to the other ingress processes."),
  ingress_clicks_unpublished: gauge(
    "Clicks never published to the other ingress processes, because NATS was away for too long.",
  ),
  // If these two are old, this process counts click caps alone and misses newly reached caps.
  ingress_click_totals_age_seconds: gauge(
    "Seconds since a click writer reported totals, which happens at least every 5 seconds.",
  ),
  ingress_caps_reached_age_seconds: gauge(
    "Seconds since a conversion processor reported reached caps, which happens twice a second.",
  ),
} as const;
