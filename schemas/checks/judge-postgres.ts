import { alerts, type Judgement, refusals, refuses } from "./finding.ts";

/** Settings as `pg_settings` shows them to a pooled connection, by name; time-outs in milliseconds. */
export type PostgresSettings = ReadonlyMap<string, string>;

/** Time limits that every connection of the process must have, in milliseconds. */
export type ConnectionLimits = Readonly<Record<string, number>>;

export type PostgresReplication = {
  readonly isInRecovery: boolean;
  /** Standbys that a commit waits for at present. */
  readonly synchronousStandbys: number;
  /** `synchronous_standby_names`. */
  readonly standbyNames: string;
};

/** Tables that may be lost in a crash: counters of requests, and positions of reports that are asked for again. */
const LOSABLE_TABLES: ReadonlySet<string> = new Set(["rate_window", "report_place"]);
const DURABLE_COMMITS: ReadonlySet<string> = new Set(["on", "remote_apply"]);

/** P1: a commit is on the disk when it is answered, and no statement of ours runs without a limit. */
export function judgeCommits(settings: PostgresSettings, limits: ConnectionLimits): Judgement {
  const has = (name: string): string => settings.get(name) ?? "unknown";
  return {
    faults: refusals(
      ...["fsync", "full_page_writes"].map(
        (name) =>
          [
            has(name) !== "on",
            `Postgres has ${name} ${has(name)}, so a crash of its machine can destroy the database: set ${name} = on in postgresql.conf and reload it.`,
          ] as const,
      ),
      [
        !DURABLE_COMMITS.has(has("synchronous_commit")),
        `Postgres has synchronous_commit ${has("synchronous_commit")} for our user, so a crash can undo answered conversions: set synchronous_commit = on in postgresql.conf, and reset it for the role and the database.`,
      ],
      ...Object.entries(limits).map(([name, limitMs]) => {
        const ms = Number(has(name));
        return [
          !(ms > 0 && ms <= limitMs),
          `Postgres has ${name} ${has(name)} ms on a pooled connection, not ${limitMs}, because PgBouncer drops what we ask for at the start of a connection: run \`tracker migrate\`, which sets it for the role.`,
        ] as const;
      }),
    ),
  };
}

/** P2: no table of ours is emptied by a crash. */
export function judgeTables(unlogged: readonly string[]): Judgement {
  const faults = unlogged
    .filter((table) => !LOSABLE_TABLES.has(table))
    .map((table) =>
      refuses(
        `The Postgres table ${table} is unlogged, so a crash empties it: run \`alter table ${table} set logged\`.`,
      ),
    );
  return { faults };
}

/** P3: a commit waits for `standbysMin` other machines. */
export function judgeStandbys(
  { isInRecovery, synchronousStandbys, standbyNames }: PostgresReplication,
  standbysMin: number,
): Judgement {
  if (isInRecovery) {
    const sentence =
      "POSTGRES_URL leads to a standby, which takes no writes: let it name the primary, or promote this server.";
    return { faults: [alerts(sentence)] };
  }
  const demanded = demandedStandbys(standbyNames);
  if (demanded < standbysMin) {
    const sentence = `Postgres commits wait for ${demanded} of ${standbysMin} standbys, so the loss of its machine can lose answered conversions: set synchronous_standby_names = 'ANY ${standbysMin} (*)', or set STRICT_STANDBYS to the number that you want.`;
    return { faults: [refuses(sentence)] };
  }
  if (synchronousStandbys >= standbysMin) return { faults: [] };
  const sentence = `Postgres sees ${synchronousStandbys} of ${standbysMin} synchronous standbys, so its commits wait: start the standby again, or grant pg_monitor to our role if the standby runs.`;
  return { faults: [alerts(sentence)] };
}

/** How many standbys a commit waits for: `ANY 2 (a, b)`, `FIRST 1 (a)`, `2 (a, b)` or a list of names, which means one. */
function demandedStandbys(names: string): number {
  if (names.trim() === "") return 0;
  const counted = /^\s*(?:any\s+|first\s+)?(\d+)\s*\(/i.exec(names);
  return counted === null ? 1 : Number(counted[1]);
}
