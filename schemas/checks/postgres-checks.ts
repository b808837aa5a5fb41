import { CONNECTION_LIMITS, type Queryable } from "../postgres/connect.ts";
import { isPostgresAway, postgresCode } from "../postgres/errors.ts";
import { checksOf, type Question } from "./check.ts";
import {
  judgeCommits,
  judgeStandbys,
  judgeTables,
  type PostgresReplication,
  type PostgresSettings,
} from "./judge-postgres.ts";

type PostgresFacts = {
  readonly settings: PostgresSettings;
  readonly unlogged: readonly string[];
  readonly replication: PostgresReplication;
};

const SETTING_NAMES = [
  "fsync",
  "full_page_writes",
  "synchronous_commit",
  ...Object.keys(CONNECTION_LIMITS),
];

const POSTGRES: Question<PostgresFacts> = {
  server: "Postgres",
  ask: ({ db }) => db && readFacts(db),
  refusalOf: postgresRefusal,
};

export const POSTGRES_CHECKS = checksOf(POSTGRES, ["start", "doctor"], {
  P1: {
    judge: ({ settings }) => judgeCommits(settings, CONNECTION_LIMITS),
    remedy: "correct postgresql.conf and reload it, or run `tracker migrate` for the time limits",
  },
  P2: {
    judge: ({ unlogged }) => judgeTables(unlogged),
    remedy: "run `alter table … set logged`",
  },
  P3: {
    judge: ({ replication }, { standbys }) => judgeStandbys(replication, standbys),
    remedy: "set synchronous_standby_names, or start the standby again",
  },
});

export function postgresRefusal(error: unknown): string | undefined {
  if (isPostgresAway(error)) return undefined;
  return postgresCode(error) || undefined;
}

async function readFacts(db: Queryable): Promise<PostgresFacts> {
  return {
    settings: await readSettings(db),
    unlogged: await readUnloggedTables(db),
    replication: await readReplication(db),
  };
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
