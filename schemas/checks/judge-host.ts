import type { FxFeed } from "../postgres/fx-feed.ts";
import { type Judgement, refuses, warns } from "./finding.ts";

/** What was read on the host of a command. */
export type HostFacts = {
  /** Undefined where the service has no folder. */
  readonly disk: { readonly folder: string; readonly freeShare: number } | undefined;
  /** The soft limit of open files; undefined where it cannot be read, as all that follows. */
  readonly openFiles: string | undefined;
  readonly kernel: (setting: string) => string | undefined;
  /** How many files with secrets there are, and which files others than their owner may read. */
  readonly secrets: {
    readonly files: number;
    readonly open: readonly string[];
    /** Why DATA_DIR cannot be read. */
    readonly unreadable?: string | undefined;
  };
  /** Other hosts that a connection reaches without encryption, by the variable of their address. */
  readonly plain: ReadonlyMap<string, readonly string[]>;
};

/** The version of a server, and by how much its clock differs from ours. */
export type ServerState = { readonly version: string; readonly awayMs: number };

const OPEN_FILES_MIN = 65_536;
const FREE_SHARE_WARN = 0.15;
const FREE_SHARE_MIN = 0.05;
const POSTGRES_MIN = 15;
/** A click that is this much too old or too new still counts on the right day nearly always; ten times as much does not. */
const CLOCK_WARN_MS = 200;
const CLOCK_REFUSE_MS = 2_000;
const SET_RATE = "tracker fx-rates set USD=1.0842";
const UNREADABLE: Judgement = {
  faults: [warns("cannot be read here: look at it on the host itself.")],
};

/** A kernel setting of a host that answers clicks. */
export type Tuning = { readonly name: string; readonly why: string } & (
  | { readonly least: number }
  | { readonly most: number }
);

export function judgeDisk({ disk }: Pick<HostFacts, "disk">): Judgement {
  if (disk === undefined) return { faults: [], well: "this host has no folder of the service" };
  const { folder, freeShare } = disk;
  const free = `${Math.round(freeShare * 100)} % of the disk of ${folder} is free`;
  if (freeShare >= FREE_SHARE_WARN) return { faults: [], well: free };
  return { faults: [freeShare < FREE_SHARE_MIN ? refuses(free) : warns(free)] };
}

export function judgeOpenFiles({ openFiles }: Pick<HostFacts, "openFiles">): Judgement {
  if (openFiles === undefined) return UNREADABLE;
  const limit = `the limit is ${openFiles}`;
  if (openFiles === "unlimited" || Number(openFiles) >= OPEN_FILES_MIN)
    return { faults: [], well: limit };
  return { faults: [warns(`${limit}, too few for many visitors`)] };
}

export function judgeTuning(tuning: Tuning, { kernel }: Pick<HostFacts, "kernel">): Judgement {
  const given = kernel(tuning.name);
  if (given === undefined) return UNREADABLE;
  const value = Number(given);
  const isWell = "least" in tuning ? value >= tuning.least : value <= tuning.most;
  return isWell
    ? { faults: [], well: `is ${value}` }
    : { faults: [warns(`is ${value}, so ${tuning.why}`)] };
}

export function judgeSecrets({ secrets }: Pick<HostFacts, "secrets">): Judgement {
  const faults = secrets.open.map((file) =>
    refuses(`${file} can be read by other users of this host: run \`chmod 600 ${file}\`.`),
  );
  const { files, unreadable } = secrets;
  if (unreadable === undefined) return { faults, well: `${files} files, each for its owner only` };
  const remedy = "run this as the user of the processes";
  return { faults: [...faults, warns(`DATA_DIR cannot be read (${unreadable}): ${remedy}.`)] };
}

export function judgeTls({ plain }: Pick<HostFacts, "plain">): Judgement {
  const faults = [...plain].map(([variable, hosts]) =>
    warns(
      `${variable} reaches ${hosts.join(", ")} without TLS, so others in that network can read what passes`,
    ),
  );
  return { faults, well: "every server is encrypted, or stays on this host" };
}

export function judgePostgresVersion({ version }: ServerState): Judgement {
  const isOld = Number.parseInt(version, 10) < POSTGRES_MIN;
  const old = `${version} is older than ${POSTGRES_MIN}, which is not tested`;
  return { faults: isOld ? [warns(old)] : [], well: version };
}

export function judgeClock({ awayMs }: ServerState): Judgement {
  const differs = `differs from ours by ${Math.round(awayMs)} ms`;
  if (awayMs <= CLOCK_WARN_MS) return { faults: [], well: differs };
  return { faults: [awayMs > CLOCK_REFUSE_MS ? refuses(differs) : warns(differs)] };
}

/** Whether amounts in other currencies can be converted (G221). */
export function judgeRates({ state, source, newest_day: day, error }: FxFeed): Judgement {
  switch (state) {
    case "ok":
      return { faults: [], well: `${source} was read, its newest day is ${day ?? ""}` };
    case "off": {
      const well = `the feed is off (FX_FEED_URL=off): rates are those that staff enter, by ${SET_RATE} or POST /fx-rates`;
      return { faults: [], well };
    }
    case "failed": {
      const sentence =
        `${source} cannot be read (${error}): let the processors reach it, name a mirror by FX_FEED_URL, or set FX_FEED_URL=off and ` +
        `enter rates by ${SET_RATE}. Reports in currencies without a rate are answered 503.`;
      return { faults: [warns(sentence)] };
    }
    case "unread":
      return { faults: [warns("the feed has not been read yet")] };
  }
}
