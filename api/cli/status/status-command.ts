import { pause } from "../../../schemas/host/pause.ts";
import {
  asJson,
  exitCodeOf,
  reportOf,
  type StatusReport,
  written,
} from "../../workspace/system/status/status-report.ts";
import type { Command, Terminal } from "../command.ts";
import { CommandError } from "../command-error.ts";
import { JSON_OUTPUT } from "../options.ts";
import { findServers, type Servers } from "../servers.ts";
import { InstallationObserver } from "./installation-observer.ts";

const WATCH_MS = 2_000;
const EXIT_UNKNOWN = 3;
/** To the top left corner, and nothing below. */
const REDRAW = "\u001B[H\u001B[J";

export const statusCommand: Command = {
  name: "status",
  summary: "five lines: clicks, journals, lanes, stores and audits, as they are now",
  options: {
    watch: { summary: "shows it again every 2 s until Ctrl-C" },
    ...JSON_OUTPUT,
  },
  examples: ["status", "status --watch"],
  notes: `Asks each process and each server now, and shows ? for what does not answer, with the
age of its last heartbeat. Rates are of the second between two samples (with
--watch: since the last ones); unrecorded is since the start of each ingress, lost
of the last 24 hours. Exit code 0: well. 1: degraded, nothing is lost. 2: something is
or may be lost. 3: nobody can tell, because NATS or Postgres does not answer.
With --json and --watch, each line of the output is one report.`,
  run: async (given, { servers: asked, dataDir, natsSpace }, terminal) => {
    const servers = serversOrUnknown(() =>
      findServers(["postgres", "nats", "clickhouse"], asked, dataDir),
    );
    const observer = new InstallationObserver(servers, natsSpace);
    const print = given.has("json") ? jsonPrinter(given.has("watch")) : written;
    try {
      if (given.has("watch")) return await watch(observer, print, given.has("json"), terminal);
      const report = reportOf(await observer.look(new AbortController().signal));
      mark(report, terminal);
      return print(report);
    } finally {
      await observer.close();
    }
  },
};

/** Nobody can tell the state of an installation whose servers are not known. */
function serversOrUnknown(find: () => Servers): Servers {
  try {
    return find();
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    throw new CommandError(error.message, { cause: error, exitCode: EXIT_UNKNOWN });
  }
}

/** Returns the last report, whose exit code counts. */
async function watch(
  observer: InstallationObserver,
  print: (report: StatusReport) => string,
  isJson: boolean,
  terminal: Terminal,
): Promise<string> {
  const signal = terminal.interruption();
  for (;;) {
    const report = reportOf(await observer.look(signal));
    mark(report, terminal);
    const text = print(report);
    if (signal.aborted) return text;
    terminal.draw?.(isJson ? `${text}\n` : `${REDRAW}${text}\n`);
    await pause(WATCH_MS, signal);
    if (signal.aborted) return "";
  }
}

function mark(report: StatusReport, terminal: Terminal): void {
  terminal.markFailed?.(exitCodeOf(report));
}

function jsonPrinter(isOneLine: boolean): (report: StatusReport) => string {
  return (report) => JSON.stringify(asJson(report), null, isOneLine ? undefined : 2);
}
