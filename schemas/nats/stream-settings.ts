import type { SettingsOf } from "../host/read-settings.ts";

/** What the click stream must have at least. */
export type StreamSettings = {
  /** Undefined: as many as there are servers, at most 3. */
  readonly replicas?: number | undefined;
  readonly hours: number;
  /** Undefined: as created; a new stream gets the largest size that the server can reserve. */
  readonly bytes?: number | undefined;
};

export const STREAM_DEFAULTS: StreamSettings = { hours: 72 };

export function streamSettings(
  read: Pick<
    SettingsOf<"tracker">,
    "NATS_REPLICAS" | "CLICKS_STREAM_HOURS" | "CLICKS_STREAM_BYTES"
  >,
): StreamSettings {
  return {
    replicas: read.NATS_REPLICAS,
    hours: read.CLICKS_STREAM_HOURS,
    bytes: read.CLICKS_STREAM_BYTES,
  };
}
