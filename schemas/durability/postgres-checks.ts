import { CONNECTION_LIMITS, type Queryable } from "../postgres/connect.ts";
import { isPostgresAway, postgresCode } from "../postgres/errors.ts";
import type { CheckGroup } from "./check-group.ts";
import {
  judgeCommits,
  judgeStandbys,
  judgeTables,
  type PostgresReplication,
  type PostgresSettings,
} from "./judge-postgres.ts";

const SETTING_NAMES = [
  "fsync",
  "full_page_writes",
  "synchronous_commit",
  ...Object.keys(CONNECTION_LIMITS),
];

/** P1, P2, P3, over the pool of the process: PgBouncer may treat each connection differently. */
export function postgresChecks(db: Queryable, standbysMin: number): CheckGroup {
  return {
    checks: ["P1", "P2", "P3"],
    server: "Postgres",
    ask: async () => [
      judgeCommits(await readSettings(db), CONNECTION_LIMITS),
      judgeTables(await readUnloggedTables(db)),
      judgeStandbys(await readReplication(db), standbysMin),
    ],
    refusalOf: postgresRefusal,
  };
}

export function postgresRefusal(error: unknown): string | undefined {
  if (isPostgresAway(error)) return undefined;
  return postgresCode(error) || undefined;
}

async function readSettings(db: Queryable): Promise<PostgresSettings> {
  const { rows } = await db.query<{ name: string; setting: string }>({
    name: "durability-settings",
    text: "select name, setting from pg_settings where name = any($1)",
    values: [SETTING_NAMES],
  });
  return new Map(rows.map(({ name, setting }) => [name, setting]));
}

async function readUnloggedTables(db: Queryable): Promise<string[]> {
  const { rows } = await db.query<{ name: string }>({
    name: "durability-tables",
    text: `select relname as name from pg_class
           where relkind = 'r' and relpersistence = 'u'
             and relnamespace = current_schema()::regnamespace
           order by relname`,
  });
  return rows.map(({ name }) => name);
}

async function readReplication(db: Queryable): Promise<PostgresReplication> {
  const { rows } = await db.query<PostgresReplication>({
    name: "durability-standbys",
    text: `select pg_is_in_recovery() as "isInRecovery",
             (select count(*) from pg_stat_replication where sync_state in ('sync', 'quorum'))
               as "synchronousStandbys",
             current_setting('synchronous_standby_names') as "standbyNames"`,
  });
  const [row] = rows;
  if (row === undefined) throw new Error("Postgres returned no row for a select without a table");
  return row;
}
