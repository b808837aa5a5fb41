import type { Process } from "./setting-definitions.ts";

type Environment = Readonly<Record<string, string | undefined>>;

type RemovedSetting = {
  /** The value that it always has now. */
  readonly always: string;
  readonly readBy: readonly Process[];
  readonly instead: string;
};

/** Variables that were settings. Whoever has set another value relied on it, so the process that read it does not start. */
const REMOVED: Readonly<Record<string, RemovedSetting>> = {
  CONSOLE: {
    always: "on",
    readBy: ["api"],
    instead: "The api always serves the console; an edge may refuse /console/",
  },
  CONSOLE_PLAIN_HTTP: {
    always: "0",
    readBy: ["api"],
    instead: "People sign in over https, or over http on the machine of the api itself",
  },
  SIGNUP_PER_HOUR: {
    always: "10",
    readBy: ["api"],
    instead: "Always 10 partners may sign up from one address in an hour",
  },
  CLICKS_STREAM_COMPRESSION: {
    always: "s2",
    readBy: ["processors", "tracker"],
    instead: "A new stream is compressed; `tracker streams set --compression none` ends that",
  },
  CLICK_LIST_ROWS_MAX: {
    always: "20000",
    readBy: ["processors"],
    instead: "Lists of clicks read ClickHouse only and have no such limit",
  },
  HOLD_TICK_MS: {
    always: "1000",
    readBy: ["processors"],
    instead: "A hold that is over is always noticed within a second",
  },
  FACTS_AUDIT_MINUTES: {
    always: "60",
    readBy: ["processors"],
    instead: "ClickHouse is always compared with Postgres every hour",
  },
  INGRESS_WORKER: {
    always: "0",
    readBy: ["ingress"],
    instead: "Give each ingress process of a host an OPS_PORT of its own",
  },
};

export const REMOVED_SETTINGS: readonly string[] = Object.keys(REMOVED);

/** One sentence for each variable of this process that is no setting any more and asks for something else than what is always so. */
export function removedSettings(reader: Process, environment: Environment): string[] {
  return Object.entries(REMOVED).flatMap(([name, { always, readBy, instead }]) => {
    const isRead = reader === "npm start" || readBy.includes(reader);
    const given = environment[name] ?? "";
    if (!isRead || given === "" || given === always) return [];
    return [`${name}: no setting any more, remove it. ${instead}.`];
  });
}
