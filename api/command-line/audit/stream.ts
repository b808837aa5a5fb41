import { areStreamsOwn } from "../../../schemas/installation/are-streams-own.ts";
import type { Nats } from "../../../schemas/nats/connect.ts";
import type { StreamSettings } from "../../../schemas/nats/stream-settings.ts";
import { clicksStream, readStream, type StreamState } from "../../../schemas/nats/streams.ts";
import { count, size } from "../status/status-line.ts";
import { type AuditContext, type Finding, found } from "./check.ts";

/** The stream of clicks exists, belongs to this Postgres, and keeps at least what the settings ask for. */
export async function auditStream(
  { stores: { db } }: AuditContext,
  nats: Nats,
  wanted: StreamSettings,
): Promise<Finding> {
  const name = clicksStream(nats);
  const stream = await readStream(nats);
  if (stream === undefined) {
    return found(name, [`NATS has no stream ${name}: run \`tracker migrate\`.`]);
  }
  const details = [
    ...limitFaults(stream, wanted),
    ...stream.followers
      .filter(({ isCurrent }) => !isCurrent)
      .map(
        ({ name: server }) => `The copy of ${name} on ${server} is behind, or the server is away.`,
      ),
  ];
  if ((await areStreamsOwn(db, nats)) === false) {
    details.push(
      `${name} belongs to another installation, or another one reads it: see \`tracker help restored\`.`,
    );
  }
  return found(`${name}, ${count(stream.messages)} messages, R${stream.replicas}`, details);
}

/** `tracker migrate` raises a stream to the settings; only a person can have lowered it. */
function limitFaults(
  { name, replicas, hours, bytes }: StreamState,
  wanted: StreamSettings,
): string[] {
  const faults: string[] = [];
  const { replicas: copies = 1, hours: hoursWanted, bytes: bytesWanted = 0 } = wanted;
  if (replicas < copies) faults.push(`has ${replicas} copies, NATS_REPLICAS asks for ${copies}`);
  if (hours !== 0 && hours < hoursWanted) {
    faults.push(`keeps clicks for ${hours} h, CLICKS_STREAM_HOURS asks for ${hoursWanted}`);
  }
  if (bytes >= 0 && bytes < bytesWanted) {
    faults.push(`holds ${size(bytes)}, CLICKS_STREAM_BYTES asks for ${size(bytesWanted)}`);
  }
  return faults.map((fault) => `${name} ${fault}: run \`tracker migrate\`.`);
}
