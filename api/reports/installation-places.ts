import type { Pool, PoolConnection } from "../../schemas/postgres/connect.ts";
import type { SlotHolder } from "./report-slots.ts";

export type PlaceLimits = { readonly perKey: number; readonly perWorkspace: number };

/** A place is a lock of the session: its class, and key or workspace with the place's number. */
const KEY_CLASS = 7265012;
const WORKSPACE_CLASS = 7265013;
/** More than a key or a workspace has places. */
const PLACES_MAX = 8;

type Session = {
  readonly connection: PoolConnection;
  readonly keys: Set<number>;
  readonly workspaces: Set<number>;
};
type Taken = { readonly key_lock: number | null; readonly workspace_lock: number | null };

/**
 * Places for reports over all processes of the installation (G205): session locks of Postgres, all on one connection of this
 * process, so that a process that dies gives its places back with its connection. Nothing is written. When the connection is lost,
 * reports that are under way go on and are no longer counted.
 */
export class InstallationPlaces {
  readonly #db: Pick<Pool, "connect">;
  readonly #limits: PlaceLimits;
  #session: Session | undefined;
  /** A session may take the same lock twice, so what it holds is known here, and one statement is under way at a time. */
  #turn: Promise<void> = Promise.resolve();

  constructor(db: Pick<Pool, "connect">, limits: PlaceLimits) {
    this.#db = db;
    this.#limits = limits;
  }

  /** The function that gives the place back; undefined when key or workspace has all of its places. Rejects when Postgres is away. */
  tryTake(holder: SlotHolder): Promise<(() => void) | undefined> {
    return this.#inTurn(() => this.#take(holder));
  }

  /** Gives all places back. */
  async close(): Promise<void> {
    await this.#inTurn(async () => this.#end(new Error("closed")));
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(work);
    this.#turn = done.then(
      () => undefined,
      () => undefined,
    );
    return done;
  }

  async #take({ keyId, workspaceId }: SlotHolder): Promise<(() => void) | undefined> {
    const session = this.#session ?? (await this.#open());
    const { perKey, perWorkspace } = this.#limits;
    const [taken] = await this.#query<Taken>(session, {
      name: "take-report-place",
      text: `with of_key as materialized (
               select id from unnest($2::integer[]) id where pg_try_advisory_lock($1::integer, id) limit 1
             ), of_workspace as materialized (
               select id from unnest($4::integer[]) id
               where exists (select from of_key) and pg_try_advisory_lock($3::integer, id) limit 1
             )
             select (select id from of_key) as key_lock, (select id from of_workspace) as workspace_lock`,
      values: [
        ...[KEY_CLASS, freeLocks(session.keys, keyId, perKey)],
        ...[WORKSPACE_CLASS, freeLocks(session.workspaces, workspaceId, perWorkspace)],
      ],
    });
    if (taken === undefined || taken.key_lock === null) return undefined;
    if (taken.workspace_lock === null) {
      await this.#unlock(session, taken);
      return undefined;
    }
    session.keys.add(taken.key_lock);
    session.workspaces.add(taken.workspace_lock);
    return () => {
      // What cannot be unlocked ends with the session.
      this.#inTurn(() => this.#giveBack(session, taken)).catch(() => undefined);
    };
  }

  async #giveBack(session: Session, taken: Taken): Promise<void> {
    if (this.#session !== session) return;
    await this.#unlock(session, taken);
    session.keys.delete(taken.key_lock ?? 0);
    session.workspaces.delete(taken.workspace_lock ?? 0);
  }

  async #unlock(session: Session, { key_lock, workspace_lock }: Taken): Promise<void> {
    await this.#query(session, {
      name: "give-report-place-back",
      text: `select pg_advisory_unlock($1::integer, $2::integer),
        case when $4::integer is not null then pg_advisory_unlock($3::integer, $4::integer) end`,
      values: [KEY_CLASS, key_lock, WORKSPACE_CLASS, workspace_lock],
    });
  }

  async #query<Row extends Record<string, unknown>>(
    session: Session,
    statement: Parameters<PoolConnection["query"]>[0],
  ): Promise<Row[]> {
    try {
      return (await session.connection.query<Row>(statement)).rows;
    } catch (error) {
      // Nobody knows what the session holds now: without it, nothing.
      if (this.#session === session) this.#end(error);
      throw error;
    }
  }

  async #open(): Promise<Session> {
    const connection = await this.#db.connect();
    const session: Session = { connection, keys: new Set<number>(), workspaces: new Set<number>() };
    connection.onLost((error) => {
      if (this.#session === session) this.#end(error);
    });
    this.#session = session;
    // A machine that is gone keeps its places for 25 s, not for hours.
    await this.#query(session, {
      text: `select set_config('tcp_keepalives_idle', '10', false), set_config('tcp_keepalives_interval', '5', false),
        set_config('tcp_keepalives_count', '3', false)`,
    });
    return session;
  }

  #end(cause: unknown): void {
    const session = this.#session;
    this.#session = undefined;
    session?.connection.release(cause instanceof Error ? cause : new Error(String(cause)));
  }
}

/** The locks of a key's or workspace's places that this session does not hold itself. */
function freeLocks(held: ReadonlySet<number>, id: number, places: number): number[] {
  return Array.from({ length: places }, (_, place) => (id * PLACES_MAX + place) | 0).filter(
    (lock) => !held.has(lock),
  );
}
