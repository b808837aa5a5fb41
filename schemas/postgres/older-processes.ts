import type { MigrationFile, Store } from "../versions/migration-files.ts";
import type { Queryable } from "./connect.ts";

/** Processes of an older release still run, so nothing that they use may be removed. */
export class OlderProcessesError extends Error {
  override readonly name = "OlderProcessesError";
}

/** A process that was seen within this time may still run. It notes itself every 10 s. */
const ALIVE_SECONDS = 60;
/** More names help nobody. */
const NAMED_MAX = 20;

type OlderProcess = {
  readonly name: string;
  readonly host: string;
  readonly version: string;
  /** 0 for a release that did not note it. */
  readonly known: number;
  readonly ageSeconds: number;
};

/**
 * Runs `work` while no process of a release before `file` needs can start or run. Every process first writes its row in `system_process`
 * and then checks the schema, and no row can be written until the transaction of `db` has ended: so a process that starts at the same
 * time is either seen here, or sees what `work` has done.
 *
 * @throws {OlderProcessesError} naming them.
 */
export async function withoutOlderProcesses(
  db: Queryable,
  { store, file }: { readonly store: Store; readonly file: MigrationFile },
  work: () => Promise<void>,
): Promise<void> {
  await db.query({ text: "lock table system_process in share row exclusive mode" });
  const older = await findOlder(db, store, file.oldestReader);
  if (older.length > 0) throw new OlderProcessesError(sentenceOf(file, older));
  await work();
}

const OLDER: Readonly<Record<Store, string>> = {
  postgres: `select name, host, version, schema_version as known,
               greatest(0, extract(epoch from clock_timestamp() - last_seen_at))::integer as "ageSeconds"
             from system_process
             where schema_version < $1 and last_seen_at > clock_timestamp() - $2 * interval '1 second'
             order by name, host limit $3`,
  clickhouse: `select name, host, version, coalesce(clickhouse_version, 0) as known,
                 greatest(0, extract(epoch from clock_timestamp() - last_seen_at))::integer as "ageSeconds"
               from system_process
               where coalesce(clickhouse_version, 0) < $1 and last_seen_at > clock_timestamp() - $2 * interval '1 second'
               order by name, host limit $3`,
};

async function findOlder(db: Queryable, store: Store, needed: number): Promise<OlderProcess[]> {
  const { rows } = await db.query<OlderProcess>({
    text: OLDER[store],
    values: [needed, ALIVE_SECONDS, NAMED_MAX],
  });
  return rows;
}

function sentenceOf({ name, oldestReader }: MigrationFile, older: readonly OlderProcess[]): string {
  const named = older.map(
    (one) =>
      `${one.name} on ${one.host} (release ${one.version}, migration ${one.known === 0 ? "unknown" : one.known}, ` +
      `seen ${one.ageSeconds} s ago)`,
  );
  return (
    `${name} removes what releases before migration ${oldestReader} use, and such processes run: ${named.join(", ")}. ` +
    `Upgrade or stop them, then repeat; one that was killed counts for ${ALIVE_SECONDS} s`
  );
}
