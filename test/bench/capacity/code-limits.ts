import { BUSY_RECORDS_PER_SECOND } from "../../../ingress/journal/ship-lane.ts";
import { UNIQUE_HOURS } from "../../../processors/clicks/intake/intake.ts";
import { VISIT_BYTES } from "../../../processors/clicks/visits/visit-table.ts";
import {
  BATCH_AGE_MS_MAX,
  BATCH_BYTES_MAX,
  BATCH_RECORDS_MAX,
  BUSY_BATCH_AGE_MS_MAX,
} from "../../../schemas/events/click-batch.ts";
import { DEFAULT_LANE_COUNT } from "../../../schemas/events/lanes.ts";
import { SETTINGS } from "../../../schemas/host/setting-definitions.ts";
import { STREAM_DEFAULTS } from "../../../schemas/nats/stream-settings.ts";
import { CLICKS_BYTES_MAX } from "../../../schemas/nats/streams.ts";

/** What the code of today decides, read from the code. */
export const CODE = {
  lanes: DEFAULT_LANE_COUNT,
  /** Every lane is a subject of the same stream. */
  streams: 1,
  messageRecordsMax: BATCH_RECORDS_MAX,
  messageBytesMax: BATCH_BYTES_MAX,
  messageAgeMs: BATCH_AGE_MS_MAX,
  busyMessageAgeMs: BUSY_BATCH_AGE_MS_MAX,
  busyRecordsPerSecond: BUSY_RECORDS_PER_SECOND,
  youngBytesDefault: Number(SETTINGS.YOUNG_CLICKS_BYTES.default),
  youngBytesMax: largestAccepted(SETTINGS.YOUNG_CLICKS_BYTES),
  uniqueHours: UNIQUE_HOURS,
  uniqueVisitsDefault: Number(SETTINGS.UNIQUE_VISITS_MAX.default),
  uniqueVisitsMax: largestAccepted(SETTINGS.UNIQUE_VISITS_MAX),
  uniqueBytes: VISIT_BYTES,
  streamHours: STREAM_DEFAULTS.hours,
  streamBytesDefault: CLICKS_BYTES_MAX[0] ?? 0,
} as const;

/** The largest whole number that a setting takes, searched upwards from its default. */
function largestAccepted(setting: {
  readonly default: string;
  readonly type: { readonly parse: (text: string) => unknown };
}): number {
  let accepted = Number(setting.default);
  let refused = Number.MAX_SAFE_INTEGER;
  while (refused - accepted > 1) {
    const middle = Math.floor((accepted + refused) / 2);
    if (setting.type.parse(String(middle)) === undefined) refused = middle;
    else accepted = middle;
  }
  return accepted;
}
