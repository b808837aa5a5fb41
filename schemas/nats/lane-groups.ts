import { IMPRESSION_LANE, LANE_COUNTS } from "../events/lanes.ts";

/** The part of a NATS server that belongs to an installation, and how its lanes are divided into streams. */
export type NatsSpace = {
  readonly prefix: string;
  /** Streams of clicks (LANE_GROUPS); 1 if absent. */
  readonly groups?: number | undefined;
};

/** Every lane that an installation may ever have, so that more lanes need no change of a stream. */
const POSSIBLE_LANES: readonly number[] = [
  ...Array.from({ length: Math.max(...LANE_COUNTS) }, (_, lane) => lane),
  IMPRESSION_LANE,
];

/**
 * Names of the streams, by group. JetStream names must not contain dots. A lane that is split stays in its group, because the number of
 * groups divides the number of lanes before and after.
 */
export function clicksStreams({ prefix, groups = 1 }: NatsSpace): readonly string[] {
  const name = prefix === "" ? "CLICKS" : `CLICKS_${prefix.replaceAll(".", "_")}`;
  if (groups === 1) return [name];
  return Array.from({ length: groups }, (_, group) => `${name}_${group}`);
}

/** Name of the stream that has the messages of a lane. */
export function streamOfLane(space: NatsSpace, lane: number): string {
  return clicksStreams(space)[lane % (space.groups ?? 1)] ?? "";
}

/** The lanes of a group among all that an installation may have. */
export function lanesOfGroup(group: number, groups: number): readonly number[] {
  return POSSIBLE_LANES.filter((lane) => lane % groups === group);
}
