import { openClickhouse } from "../../../schemas/clickhouse/connect.ts";
import { isClickhouseAway } from "../../../schemas/clickhouse/errors.ts";
import { NodeDirectory } from "../../../schemas/clickhouse/node-directory.ts";
import { connectNats, type Nats } from "../../../schemas/nats/connect.ts";
import type { NatsSpace } from "../../../schemas/nats/lane-groups.ts";
import type { StreamSettings } from "../../../schemas/nats/stream-settings.ts";
import { parseDay } from "../../../schemas/time/calendar.ts";
import { systemClock } from "../../../schemas/time/clock.ts";
import { DAY_MS } from "../../../schemas/time/zone.ts";
import type { Command, CommandArguments, CommandEnvironment, Terminal } from "../command.ts";
import { UsageError } from "../command-error.ts";
import { withDatabase } from "../database.ts";
import { JSON_OUTPUT } from "../options.ts";
import { findServers, type Servers } from "../servers.ts";
import { table } from "../table.ts";
import type { AuditContext, AuditScope, AuditStores, Finding, Outcome } from "./check.ts";
import { auditClickIds } from "./click-ids.ts";
import { auditClickRows } from "./click-rows.ts";
import type { AuditedDay } from "./compare-facts.ts";
import { auditFacts, type FactsAudit } from "./facts.ts";
import { auditCatalog, auditJournals } from "./processes.ts";
import { auditReplicas } from "./replicas.ts";
import { auditRollups } from "./rollups.ts";
import { auditStream } from "./stream.ts";

const NAME = "tracker audit";
const NODE_OPTIONS = { applicationName: NAME, connectionsMax: 2 };
const EXIT_DIFFERS = 1;
const EXIT_UNKNOWN = 3;
const DETAILS_SHOWN = 20;
const NAME_WIDTH = 9;

export const auditCommand: Command = {
  name: "audit",
  summary: "compares clicks, conversions, stream, journals and catalogs with each other",
  options: {
    since: { value: "DATE", summary: "first UTC day to compare, YYYY-MM-DD; default: see below" },
    deep: { summary: "click ids of all time, and the sums of reports with their rows" },
    repair: { summary: "sends facts again, deletes ghosts and rows stored twice" },
    ...JSON_OUTPUT,
  },
  examples: ["audit", "audit --since 2026-11-01", "audit --deep", "audit --repair"],
  notes: `One line for each check, and one sentence for each difference:
  clicks    rows of each lane and producer, with its positions and losses, all time
  ids       no click id twice, since yesterday or --since; with --deep of all time
  replicas  of a ClickHouse cluster: those of a shard have as many rows in each month
  stream    the stream of clicks exists, is ours, and keeps what the settings ask for
  journals  no journal of an ingress waits for a process that is gone
  catalog   every process has the newest catalog of this Postgres
  facts     conversions and ad costs in ClickHouse, with Postgres, since --since
  rollups   with --deep: the sums that reports read, with their rows
In facts Postgres counts as correct. Differences: missing (not in ClickHouse), older,
changed, ahead (a later version than Postgres has), ghost (not in Postgres, for example
after it was restored; each is printed before it is deleted). The service repairs all but
ghosts by itself, hourly for the last days and nightly for all.
Exit code 0: equal, or repaired. 1: differences remain. 3: a server did not answer, so
nobody can tell.`,
  run: async (given, environment, terminal) => {
    const servers = findServers(
      ["postgres", "clickhouse", "nats"],
      environment.servers,
      environment.dataDir,
    );
    const clickhouse = openClickhouse({ ...servers.clickhouse, applicationName: NAME });
    const clickhouseNodes = NodeDirectory.ofCluster(servers.clickhouse, NODE_OPTIONS);
    try {
      return await withDatabase(environment, async (db) => {
        const stores = { db, clickhouse, clickhouseNodes };
        return await audit(stores, servers, given, { environment, terminal });
      });
    } finally {
      await clickhouse.close();
      await clickhouseNodes?.close();
    }
  },
};

type Checked = Finding & { readonly name: string };

async function audit(
  stores: AuditStores,
  servers: Servers,
  given: CommandArguments,
  { environment, terminal }: { environment: CommandEnvironment; terminal: Terminal },
): Promise<string> {
  const scope = scopeOf(given);
  const context = { stores, scope, terminal, signal: terminal.interruption() };
  const { natsSpace, streams } = environment;
  const withNats = natsUser(servers, natsSpace);
  // Ids are compared row by row: without --since only the newest.
  const sinceMs =
    given.has("deep") || given.text("since") !== undefined ? scope.sinceMs : yesterdayMs();
  const recent = { ...context, scope: { ...scope, sinceMs } };
  const checked: Checked[] = [
    await checkedOf("clicks", async () => await auditClickRows(context)),
    await checkedOf("ids", async () => await auditClickIds(recent)),
    ...(await replicaCheck(context)),
    ...(await processChecks(context, withNats, streams)),
  ];
  let facts: FactsAudit | undefined;
  checked.push(
    await checkedOf("facts", async () => {
      facts = await auditFacts(context);
      return facts.finding;
    }),
  );
  if (scope.isDeep)
    checked.push(await checkedOf("rollups", async () => await auditRollups(context)));
  const exitCode = exitCodeOf(checked);
  if (exitCode !== 0) terminal.markFailed?.(exitCode);
  return given.has("json")
    ? JSON.stringify(reportOf(checked, exitCode, facts), null, 2)
    : textOf(checked, facts);
}

async function replicaCheck({ stores, signal }: AuditContext): Promise<Checked[]> {
  const { clickhouseNodes } = stores;
  if (clickhouseNodes === undefined) return [];
  const check = async (): Promise<Finding> =>
    await auditReplicas(await clickhouseNodes.answering(), signal);
  return [await checkedOf("replicas", check)];
}

type NatsUser = (use: (nats: Nats) => Promise<Finding>) => Promise<Finding>;

/** A connection for each check: a connection that NATS has lost would delay the next. */
function natsUser(servers: Servers, space: NatsSpace): NatsUser {
  return async (use) => {
    const nats = await connectNats({ ...servers.nats, name: NAME, ...space });
    try {
      return await use(nats);
    } finally {
      await nats.connection.close();
    }
  };
}

async function processChecks(
  context: AuditContext,
  withNats: NatsUser,
  streams: StreamSettings,
): Promise<Checked[]> {
  const checks = {
    stream: async (nats: Nats) => await auditStream(context, nats, streams),
    journals: async (nats: Nats) => await auditJournals(context, nats),
    catalog: async (nats: Nats) => await auditCatalog(context, nats),
  };
  const checked: Checked[] = [];
  for (const [name, check] of Object.entries(checks)) {
    checked.push(await checkedOf(name, async () => await withNats(check)));
  }
  return checked;
}

/** A check that cannot be done is not equal, and does not keep the others from being done. */
async function checkedOf(name: string, check: () => Promise<Finding>): Promise<Checked> {
  try {
    return { name, ...(await check()) };
  } catch (error) {
    if (error instanceof UsageError || (error instanceof Error && error.name === "AbortError"))
      throw error;
    const fault = error instanceof Error ? error.message || error.name : String(error);
    const server = isClickhouseAway(error) ? "ClickHouse does not answer" : "not compared";
    return { name, outcome: "unknown", summary: `${server}: ${fault}`, details: [] };
  }
}

function exitCodeOf(checked: readonly Checked[]): number {
  const has = (outcome: Outcome): boolean => checked.some((one) => one.outcome === outcome);
  if (has("differs")) return EXIT_DIFFERS;
  return has("unknown") ? EXIT_UNKNOWN : 0;
}

function reportOf(
  checked: readonly Checked[],
  exitCode: number,
  facts: FactsAudit | undefined,
): object {
  return {
    exit_code: exitCode,
    checks: checked,
    found: facts?.before.days ?? null,
    remaining: facts?.remaining.days ?? null,
    waiting: facts?.remaining.waiting ?? null,
  };
}

function textOf(checked: readonly Checked[], facts: FactsAudit | undefined): string {
  const lines = checked.flatMap(({ name, outcome, summary, details }) => {
    const hidden = details.length - DETAILS_SHOWN;
    return [
      `${name.padEnd(NAME_WIDTH)} ${outcome.padEnd(8)} ${summary}`,
      ...details.slice(0, DETAILS_SHOWN).map((detail) => `  ${detail}`),
      ...(hidden > 0 ? [`  and ${hidden} more: see --json`] : []),
    ];
  });
  const remaining = facts?.remaining.days ?? [];
  return [...lines, ...(remaining.length > 0 ? ["", tableOf(remaining)] : [])].join("\n");
}

function tableOf(days: readonly AuditedDay[]): string {
  return table<AuditedDay>(
    [
      { title: "TABLE", value: (day) => day.table },
      { title: "WORKSPACE", value: (day) => day.workspace_id },
      { title: "DAY", value: ({ day }) => day },
      { title: "POSTGRES", value: (day) => day.postgres.rows },
      { title: "CLICKHOUSE", value: (day) => day.clickhouse.rows },
      {
        title: "DIFFERENCES",
        value: ({ differences }) =>
          Object.entries(differences)
            .map(([kind, count]) => `${count} ${kind}`)
            .join(", "),
      },
    ],
    days,
    "",
  );
}

function scopeOf(given: CommandArguments): AuditScope {
  const since = given.text("since");
  const day = since === undefined ? 0 : parseDay(since);
  if (day === undefined)
    throw new UsageError(`--since ${since ?? ""} is not a day: write YYYY-MM-DD.`);
  return { sinceMs: day * DAY_MS, isDeep: given.has("deep"), isRepair: given.has("repair") };
}

function yesterdayMs(): number {
  return (Math.floor(systemClock.nowMs() / DAY_MS) - 1) * DAY_MS;
}
