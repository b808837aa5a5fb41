import { areStreamsOwn } from "../../../schemas/installation/are-streams-own.ts";
import type { Nats } from "../../../schemas/nats/connect.ts";
import { clicksStreams } from "../../../schemas/nats/lane-groups.ts";
import type { StreamSettings } from "../../../schemas/nats/stream-settings.ts";
import { readStreams, type StreamState, shareOf } from "../../../schemas/nats/streams.ts";
import { count, size } from "../../workspace/system/status/status-line.ts";
import { type AuditContext, type Finding, found } from "./check.ts";

/** The streams of clicks exist, belong to this Postgres, and keep at least what the settings ask for. */
export async function auditStream(
  { stores: { db } }: AuditContext,
  nats: Nats,
  wanted: StreamSettings,
): Promise<Finding> {
  const names = clicksStreams(nats);
  const name = names.join(", ");
  const streams = await readStreams(nats);
  const present = streams.filter((stream) => stream !== undefined);
  const missing = names.filter((_, group) => streams[group] === undefined);
  const details = [
    ...missing.map((one) => `NATS has no stream ${one}: run \`tracker migrate\`.`),
    ...present.flatMap((stream) => [
      ...limitFaults(stream, wanted, nats.groups),
      ...copyFaults(stream),
    ]),
  ];
  const [first] = present;
  if (first === undefined) return found(name, details);
  if ((await areStreamsOwn(db, nats)) === false) {
    details.push(
      `${name} belongs to another installation, or another one reads it: see \`tracker help restored\`.`,
    );
  }
  const messages = present.reduce((sum, stream) => sum + stream.messages, 0);
  return found(`${name}, ${count(messages)} messages, R${first.replicas}`, details);
}

function copyFaults({ name, followers }: StreamState): string[] {
  return followers
    .filter(({ isCurrent }) => !isCurrent)
    .map(
      ({ name: server }) => `The copy of ${name} on ${server} is behind, or the server is away.`,
    );
}

/** `tracker migrate` raises a stream to the settings; only a person can have lowered it. */
function limitFaults(
  { name, replicas, hours, bytes }: StreamState,
  wanted: StreamSettings,
  groups: number,
): string[] {
  const faults: string[] = [];
  const { replicas: copies = 1, hours: hoursWanted, bytes: allBytes = 0 } = wanted;
  const bytesWanted = shareOf(allBytes, groups);
  if (replicas < copies) faults.push(`has ${replicas} copies, NATS_REPLICAS asks for ${copies}`);
  if (hours !== 0 && hours < hoursWanted) {
    faults.push(`keeps clicks for ${hours} h, CLICKS_STREAM_HOURS asks for ${hoursWanted}`);
  }
  if (bytes >= 0 && bytes < bytesWanted) {
    faults.push(`holds ${size(bytes)}, CLICKS_STREAM_BYTES asks for ${size(bytesWanted)}`);
  }
  return faults.map((fault) => `${name} ${fault}: run \`tracker migrate\`.`);
}
