import { connectNats, type Nats } from "../../schemas/nats/connect.ts";
import type { StreamCompression } from "../../schemas/nats/stream-settings.ts";
import {
  clicksStream,
  readStream,
  type StreamLimits,
  type StreamState,
  setStream,
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
  summary: "the click stream in NATS: copies, limits, how full it is",
  options: JSON_OUTPUT,
  examples: ["streams"],
  run: async (given, environment) =>
    await withNats(environment, async (nats) => shown(await getStream(nats), given)),
};

const set: Command = {
  name: "streams set",
  summary: "changes copies, hours, size or compression of the click stream",
  options: {
    replicas: { value: "N", summary: "copies, each on a server of its own" },
    hours: { value: "N", summary: "how long clicks stay" },
    bytes: { value: "N", summary: "size at which the oldest clicks are dropped" },
    compression: { value: "s2|none", summary: "how NATS stores it" },
    yes: { summary: "also lowers copies, hours or size" },
    ...JSON_OUTPUT,
  },
  examples: ["streams set --hours 96", "streams set --replicas 1 --yes"],
  notes: `Raising is safe at any time. Lowering may drop clicks that ClickHouse needs after a
restore, or the only copy that is left when a server is lost, so it needs --yes.
\`migrate\` raises the stream again to NATS_REPLICAS, CLICKS_STREAM_HOURS and
CLICKS_STREAM_BYTES: change these as well.`,
  run: async (given, environment) =>
    await withNats(environment, async (nats) => {
      const present = await getStream(nats);
      const wanted = wantedLimits(present, given);
      refuseLowering(present, wanted, given.has("yes"));
      return shown(await setStream(nats, wanted), given);
    }),
};

function wantedLimits(present: StreamLimits, given: CommandArguments): StreamLimits {
  const wanted = {
    replicas: numberOf(given, "replicas", { min: 1, max: REPLICAS_MAX }) ?? present.replicas,
    hours: numberOf(given, "hours", { min: 1, max: HOURS_MAX }) ?? present.hours,
    bytes: numberOf(given, "bytes", { min: BYTES_MIN }) ?? present.bytes,
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

function shown(stream: StreamState, given: CommandArguments): string {
  return given.has("json") ? JSON.stringify(stream, null, 2) : linesOf(stream).join("\n");
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

async function getStream(nats: Nats): Promise<StreamState> {
  const stream = await readStream(nats);
  if (stream === undefined) {
    throw new CommandError(`There is no stream ${clicksStream(nats)}: \`migrate\` creates it.`);
  }
  return stream;
}

async function withNats(
  { servers, dataDir, natsPrefix: prefix, streams }: CommandEnvironment,
  work: (nats: Nats) => Promise<string>,
): Promise<string> {
  const { nats: server } = findServers(["nats"], servers, dataDir);
  const nats = await connectNats({ ...server, name: "tracker streams", prefix, streams });
  try {
    return await work(nats);
  } finally {
    await nats.connection.close();
  }
}

function compressionOf(given: CommandArguments): StreamCompression | undefined {
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

export const streamCommands: readonly Command[] = [show, set];
