import { existsSync, statfsSync } from "node:fs";
import { join } from "node:path";
import { type Finding, findingsOf } from "../../../schemas/checks/check.ts";
import { checksAt } from "../../../schemas/checks/checks.ts";
import type { JournalDisk } from "../../../schemas/checks/judge-journal.ts";
import type { ProcessFacts } from "../../../schemas/checks/judge-processes.ts";
import type { SecretKeyFacts } from "../../../schemas/checks/judge-secret-keys.ts";
import { openClickhouse } from "../../../schemas/clickhouse/connect.ts";
import { within } from "../../../schemas/host/within.ts";
import { readHeartbeats } from "../../../schemas/installation/heartbeat.ts";
import { openPool, type Pool } from "../../../schemas/postgres/connect.ts";
import { countByKey } from "../../../schemas/secrets/sealed-columns.ts";
import { SecretKeys } from "../../../schemas/secrets/secret-keys.ts";
import { aliveOf, askOperationsPorts } from "../../workspace/system/status/ask-operations-ports.ts";
import type { Command, CommandEnvironment } from "../command.ts";
import { wrapped } from "../help.ts";
import { JSON_OUTPUT } from "../options.ts";
import { findServers, type Servers } from "../servers.ts";
import { edgeLines } from "./edge-lines.ts";
import { openFiles, readHost } from "./read-host.ts";
import { linesOf, type ReportLine } from "./report-line.ts";

const NAME = "tracker doctor";
const CONNECTIONS_MAX = 4;
/** Nothing that is asked delays the report longer. */
const PATIENCE_MS = 5_000;
/** The program ends without connections that do not close. */
const CLOSE_MS = 500;
const STATE_WIDTH = 7;
const INDENT = " ".repeat(STATE_WIDTH + 1);

export const doctorCommand: Command = {
  name: "doctor",
  summary: "looks for what is set up wrong on the servers and on this host",
  options: {
    strict: { summary: "fails where DURABILITY=strict would refuse to start" },
    url: {
      value: "LINK",
      summary: "sends a click to this tracking link, and looks at what was stored",
    },
    ...JSON_OUTPUT,
  },
  examples: ["doctor", "doctor --strict --url https://go.example.com/r/abc"],
  notes:
    "Each line is ok, warn or refuse. Exit code 0, or 1 if a line says refuse. Run it with the environment of the processes,\n" +
    "on the host of an ingress: it looks at the disk, the limits and the kernel of the host on which it runs.",
  run: async (given, environment, terminal) => {
    const { dataDir, durability } = environment;
    const servers = findServers(["postgres", "nats", "clickhouse"], environment.servers, dataDir);
    const isStrict = given.has("strict") || durability.level === "strict";
    const url = given.text("url");
    const findings = await look(servers, environment);
    const lines: readonly ReportLine[] = [
      ...findings.flatMap((finding) => linesOf(finding, isStrict)),
      ...(url === undefined ? [] : await edgeLines(url, servers)),
    ];
    if (lines.some(({ state }) => state === "refuse")) terminal.markFailed?.();
    if (given.has("json")) return JSON.stringify(lines, null, 2);
    return lines.map((line) => written(line)).join("\n");
  },
};

async function look(
  servers: Servers,
  { dataDir, secretFiles, secretKeys, natsSpace, durability }: CommandEnvironment,
): Promise<Finding[]> {
  const asDoctor = { applicationName: NAME };
  const db = openPool({ ...servers.postgres, ...asDoctor, connectionsMax: CONNECTIONS_MAX });
  const clickhouse = openClickhouse({ ...servers.clickhouse, ...asDoctor });
  const folder = join(dataDir, "journal");
  const sources = {
    durability,
    nats: { ...servers.nats, ...natsSpace },
    db,
    clickhouse,
    clickWriter: clickhouse,
    hosts: {
      Postgres: hostsOf(servers.postgres.url),
      NATS: hostsOf(servers.nats.url),
      ClickHouse: hostsOf(servers.clickhouse.url),
    },
    processes: async () => await askProcesses(db),
    ...(existsSync(folder) ? { journal: async () => await lookAtJournal(folder) } : {}),
    host: async () => await Promise.resolve(readHost(dataDir, secretFiles, servers)),
    secretKeys: async () => await lookAtKeys(db, secretKeys),
  };
  try {
    return await findingsOf(checksAt("doctor"), sources, PATIENCE_MS);
  } finally {
    await within(CLOSE_MS, Promise.all([db.end(), clickhouse.close()]));
  }
}

function hostsOf(urls: string): string {
  return urls
    .split(",")
    .map((url) => new URL(url.trim()).host)
    .join(", ");
}

/** Asks on operations ports, so that the answer needs no NATS. Processes of other hosts answer only if their OPS_BIND lets them. */
async function askProcesses(db: Pool): Promise<ProcessFacts> {
  const alive = aliveOf(await readHeartbeats(db));
  const answers = await askOperationsPorts(alive);
  const answered = new Set(answers.map(({ process_id }) => process_id));
  return { answers, silent: alive.filter(({ id }) => !answered.has(id)) };
}

async function lookAtKeys(
  db: Pool,
  { read, file }: CommandEnvironment["secretKeys"],
): Promise<SecretKeyFacts> {
  const { ids } = new SecretKeys(read);
  const open = file === undefined ? [] : openFiles([file]);
  return { ids, counts: await countByKey(db), open };
}

/** Runs beside an ingress, whose locks and settings are not tried. */
async function lookAtJournal(folder: string): Promise<JournalDisk> {
  const { type: fileSystem } = statfsSync(folder);
  return await Promise.resolve({ folder, fileSystem, isLockKept: undefined, sync: "always" });
}

/** The whole sentence, wrapped: its end is the remedy. */
function written({ state, subject, text }: ReportLine): string {
  return wrapped(state.padEnd(STATE_WIDTH), `${subject}: ${text}`.split(" "), INDENT);
}
