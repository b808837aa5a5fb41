import { type Clickhouse, openClickhouse } from "../../schemas/clickhouse/connect.ts";
import { isClickhouseAway } from "../../schemas/clickhouse/errors.ts";
import type { FactStores } from "../../schemas/facts/fact-sums.ts";
import type { FactTable } from "../../schemas/facts/fact-table.ts";
import type { FactDifference } from "../../schemas/facts/find-differences.ts";
import { deleteGhosts, resendFacts } from "../../schemas/facts/repair-facts.ts";
import type { Pool } from "../../schemas/postgres/connect.ts";
import { parseDay } from "../../schemas/time/calendar.ts";
import { DAY_MS } from "../../schemas/time/zone.ts";
import type { Command, CommandArguments, CommandEnvironment, Terminal } from "./command.ts";
import { CommandError, UsageError } from "./command-error.ts";
import { type AuditedDay, type Comparison, compareFacts } from "./compare-facts.ts";
import { JSON_OUTPUT } from "./options.ts";
import { findServers } from "./servers.ts";
import { withDatabase } from "./session.ts";
import { table } from "./table.ts";

export const auditCommand: Command = {
  name: "audit",
  summary: "compares conversions and ad costs in ClickHouse with Postgres",
  options: {
    since: { value: "DATE", summary: "first UTC day to compare, YYYY-MM-DD; default: every day" },
    repair: { summary: "sends what is missing or differs again, and deletes ghosts" },
    ...JSON_OUTPUT,
  },
  examples: ["audit --since 2026-11-01", "audit --repair"],
  notes:
    "Postgres counts as correct. Differences: missing (not in ClickHouse), older, changed, ahead (a later version than Postgres has),\n" +
    "ghost (not in Postgres, for example after it was restored; each is printed before it is deleted).\n" +
    "The service repairs all but ghosts by itself, hourly for the last days and nightly for all.\n" +
    "Exit code 0 when nothing differs, or when --repair has repaired everything; 1 when differences remain.",
  run: async (given, environment, terminal) =>
    await withStores(environment, async (stores) => await audit(stores, given, terminal)),
};

async function audit(
  stores: FactStores,
  given: CommandArguments,
  terminal: Terminal,
): Promise<string> {
  const scope = { sinceMs: sinceOf(given), signal: terminal.interruption() };
  const repair = given.has("repair");
  const found = await compareFacts(stores, scope, async (facts, differences) => {
    if (repair) await repairSome(stores, facts, differences, terminal);
  });
  const remaining =
    repair && found.days.length > 0
      ? await compareFacts(stores, scope, async () => await Promise.resolve())
      : found;
  if (remaining.days.length > 0 || remaining.waiting.length > 0) terminal.markFailed?.();
  if (given.has("json")) {
    return JSON.stringify(
      { found: found.days, remaining: remaining.days, waiting: remaining.waiting },
      null,
      2,
    );
  }
  return [
    ...(found.days.length > 0 ? [tableOf(found.days)] : []),
    ...(repair && remaining.days.length > 0
      ? ["", "Still different:", tableOf(remaining.days)]
      : []),
    "",
    ...summaryOf(found, remaining, repair),
  ]
    .join("\n")
    .trim();
}

async function repairSome(
  stores: FactStores,
  facts: FactTable,
  differences: readonly FactDifference[],
  terminal: Terminal,
): Promise<void> {
  for (const { kind, key, clickhouse, workspaceId } of differences) {
    if (kind !== "ghost") continue;
    const money = facts.money.map((column, index) => `${column} ${clickhouse?.money[index] ?? ""}`);
    terminal.report(
      `ghost ${key.id} of ${facts.name}, workspace ${workspaceId}, ${new Date(key.atMs).toISOString()}: ` +
        `${money.join(", ")} ${clickhouse?.currency ?? ""}`,
    );
  }
  await resendFacts(stores.db, facts, differences);
  await deleteGhosts(stores, facts, differences);
}

function summaryOf(found: Comparison, remaining: Comparison, repair: boolean): string[] {
  const lines: string[] = [];
  for (const name of remaining.waiting) {
    lines.push(
      `Changes of ${name} still wait in Postgres after a minute. Start a process with the role "facts", then run the audit again.`,
    );
  }
  const [before, after] = [countOf(found.days), countOf(remaining.days)];
  if (before === 0) lines.push("No differences.");
  else if (!repair)
    lines.push(`${before} records differ. \`tracker audit --repair\` repairs them.`);
  else lines.push(`${before} records differed, ${after} still do.`);
  return lines;
}

function countOf(days: readonly AuditedDay[]): number {
  return days
    .flatMap(({ differences }) => Object.values(differences))
    .reduce((sum, count) => sum + count, 0);
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

function sinceOf(given: CommandArguments): number {
  const since = given.text("since");
  if (since === undefined) return 0;
  const day = parseDay(since);
  if (day === undefined) throw new UsageError(`--since ${since} is not a day: write YYYY-MM-DD.`);
  return day * DAY_MS;
}

async function withStores(
  environment: CommandEnvironment,
  work: (stores: FactStores) => Promise<string>,
): Promise<string> {
  const { clickhouse: server } = findServers(
    ["clickhouse"],
    environment.servers,
    environment.dataDir,
  );
  const clickhouse: Clickhouse = openClickhouse({
    ...server,
    applicationName: "tracker command line",
  });
  try {
    return await withDatabase(environment, async (db: Pool) => await work({ db, clickhouse }));
  } catch (error) {
    if (!isClickhouseAway(error)) throw error;
    const fault = error instanceof Error ? error.message : String(error);
    throw new CommandError(
      `ClickHouse does not answer (${fault}), so nothing was compared. Run the audit again when it is back.`,
      { cause: error },
    );
  } finally {
    await clickhouse.close();
  }
}
