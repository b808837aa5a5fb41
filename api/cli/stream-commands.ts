import { connectNats, type Nats } from "../../schemas/nats/connect.ts";
import { clicksStreams } from "../../schemas/nats/lane-groups.ts";
import { permissionsFile } from "../../schemas/nats/permissions-file.ts";
import {
  readStreams,
  type StreamLimits,
  type StreamState,
  setStream,
  shareOf,
} from "../../schemas/nats/streams.ts";
import type { Command, CommandArguments, CommandEnvironment } from "./command.ts";
import { CommandError, UsageError } from "./command-error.ts";
import { JSON_OUTPUT } from "./options.ts";
import { findServers } from "./servers.ts";

const HOURS_MAX = 8_760;
const REPLICAS_MAX = 5;
const BYTES_MIN = 1_048_576;
const NO_LIMIT = -1;

const show: Command = {
  name: "streams",
  summary: "the click streams in NATS: copies, limits, how full they are",
  options: JSON_OUTPUT,
  examples: ["streams"],
  run: async (given, environment) =>
    await withNats(environment, async (nats) => shown(await getStreams(nats), given)),
};

const permissions: Command = {
  name: "streams permissions",
  summary: "prints permissions.conf of NATS for NATS_PREFIX and LANE_GROUPS",
  options: {},
  examples: ["streams permissions > /etc/nats/permissions.conf"],
  notes: `The file of deploy/servers/nats/ is for an installation without these settings. Reload
the servers afterwards, before the processes use the settings.`,
  run: (_given, { natsSpace }) =>
    Promise.resolve(
      permissionsFile(natsSpace, "Written by `tracker streams permissions`.").trimEnd(),
    ),
};

const set: Command = {
  name: "streams set",
  summary: "changes copies, hours, size or compression of every click stream",
  options: {
    replicas: { value: "N", summary: "copies, each on a server of its own" },
    hours: { value: "N", summary: "how long clicks stay" },
    bytes: { value: "N", summary: "size at which the oldest clicks are dropped, of all streams" },
    compression: { value: "s2|none", summary: "how NATS stores it" },
    yes: { summary: "also lowers copies, hours or size" },
    ...JSON_OUTPUT,
  },
  examples: ["streams set --hours 96", "streams set --replicas 1 --yes"],
  notes: `Raising is safe at any time. Lowering may drop clicks that ClickHouse needs after a
restore, or the only copy that is left when a server is lost, so it needs --yes.
\`migrate\` raises the stream again to NATS_REPLICAS, CLICKS_STREAM_HOURS and
CLICKS_STREAM_BYTES: change these as well. It keeps the compression.`,
  run: async (given, environment) =>
    await withNats(environment, async (nats) => {
      const present = await getStreams(nats);
      const wanted = present.map((stream) => wantedLimits(stream, given, nats.groups));
      for (const [group, stream] of present.entries())
        refuseLowering(stream, wanted[group] ?? stream, given.has("yes"));
      const changed: StreamState[] = [];
      for (const [group, limits] of wanted.entries())
        changed.push(await setStream(nats, group, limits));
      return shown(changed, given);
    }),
};

function wantedLimits(
  present: StreamLimits,
  given: CommandArguments,
  groups: number,
): StreamLimits {
  const bytes = numberOf(given, "bytes", { min: BYTES_MIN * groups });
  const wanted = {
    replicas: numberOf(given, "replicas", { min: 1, max: REPLICAS_MAX }) ?? present.replicas,
    hours: numberOf(given, "hours", { min: 1, max: HOURS_MAX }) ?? present.hours,
    bytes: bytes === undefined ? present.bytes : shareOf(bytes, groups),
    compression: compressionOf(given) ?? present.compression,
  };
  if (["replicas", "hours", "bytes", "compression"].every((name) => given.text(name) === undefined))
    throw new UsageError("Give at least one of --replicas, --hours, --bytes and --compression.");
  return wanted;
}

function refuseLowering(present: StreamLimits, wanted: StreamLimits, isAllowed: boolean): void {
  const lowered = [
    ...(wanted.replicas < present.replicas
      ? [`copies from ${present.replicas} to ${wanted.replicas}`]
      : []),
    ...(isLower(present.hours, wanted.hours, 0)
      ? [`hours from ${present.hours || "no limit"} to ${wanted.hours}`]
      : []),
    ...(isLower(present.bytes, wanted.bytes, NO_LIMIT)
      ? [`bytes from ${present.bytes === NO_LIMIT ? "no limit" : present.bytes} to ${wanted.bytes}`]
      : []),
  ];
  if (lowered.length === 0 || isAllowed) return;
  throw new CommandError(
    `Nothing was changed: this lowers ${lowered.join(", ")}. Repeat it with --yes if that is what you want.`,
  );
}

function isLower(present: number, wanted: number, noLimit: number): boolean {
  return wanted !== present && (present === noLimit || wanted < present);
}

/** The JSON of a single stream is no list, as in releases that had only one. */
function shown(streams: readonly StreamState[], given: CommandArguments): string {
  if (given.has("json"))
    return JSON.stringify(streams.length === 1 ? streams[0] : streams, null, 2);
  return streams.map((stream) => linesOf(stream).join("\n")).join("\n\n");
}

function linesOf(stream: StreamState): string[] {
  const { replicas, hours, bytes, compression, leader, followers } = stream;
  const rows: [string, string][] = [
    ["Stream", stream.name],
    ["Copies", copiesOf(replicas, leader, followers)],
    ["Keeps", hours === 0 ? "for ever" : `${hours} hours`],
    ["Size", `${stream.bytesUsed} of ${bytes === NO_LIMIT ? "no limit" : bytes} bytes`],
    ["Compression", compression],
    ["Messages", `${stream.messages}, the oldest from ${stream.oldestAt ?? "never"}`],
  ];
  return rows.map(([title, value]) => `${title.padEnd(12)} ${value}`);
}

function copiesOf(
  replicas: number,
  leader: string | null,
  followers: StreamState["followers"],
): string {
  if (leader === null && followers.length === 0) return String(replicas);
  const others = followers.map(
    ({ name, isCurrent }) => `${name} (${isCurrent ? "current" : "behind or away"})`,
  );
  return `${replicas}: ${[`${leader ?? "nobody"} (leader)`, ...others].join(", ")}`;
}

async function getStreams(nats: Nats): Promise<StreamState[]> {
  const streams = await readStreams(nats);
  const missing = clicksStreams(nats).filter((_, group) => streams[group] === undefined);
  if (missing.length > 0)
    throw new CommandError(`There is no stream ${missing.join(", ")}: \`migrate\` creates it.`);
  return streams.filter((stream) => stream !== undefined);
}

async function withNats(
  { servers, dataDir, natsSpace, streams }: CommandEnvironment,
  work: (nats: Nats) => Promise<string>,
): Promise<string> {
  const { nats: server } = findServers(["nats"], servers, dataDir);
  const nats = await connectNats({ ...server, name: "tracker streams", ...natsSpace, streams });
  try {
    return await work(nats);
  } finally {
    await nats.connection.close();
  }
}

function compressionOf(given: CommandArguments): StreamLimits["compression"] | undefined {
  const text = given.text("compression");
  if (text === undefined || text === "s2" || text === "none") return text;
  throw new UsageError(`--compression ${text}: write s2 or none.`);
}

function numberOf(
  given: CommandArguments,
  option: string,
  { min, max = Number.MAX_SAFE_INTEGER }: { readonly min: number; readonly max?: number },
): number | undefined {
  const text = given.text(option);
  if (text === undefined) return undefined;
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw new UsageError(`--${option} ${text}: write a whole number from ${min} to ${max}.`);
}

export const streamCommands: readonly Command[] = [show, set, permissions];
