import type { Log } from "../../../schemas/host/log.ts";
import type { Queryable } from "../../../schemas/postgres/connect.ts";
import type { Completeness, OpenEpoch } from "./completeness.ts";

/** A longer silence is logged: no live producer pauses that long. */
const SILENT_MS = 30_000;

/**
 * Keeps in Postgres which producers of a lane have not ended, so that the next owner of the lane waits for a producer that is cut off
 * (G162). Invariant: no message is acknowledged before its producer is noted.
 */
export class OpenProducers {
  readonly #db: Queryable;
  readonly #lane: number;
  readonly #completeness: Completeness;
  readonly #log: Log;
  #noted = new Map<string, OpenEpoch>();
  readonly #silent = new Set<string>();
  /** Given up, and not noted yet. */
  readonly #gone: OpenEpoch[] = [];

  constructor(db: Queryable, lane: number, options: { completeness: Completeness; log: Log }) {
    this.#db = db;
    this.#lane = lane;
    this.#completeness = options.completeness;
    this.#log = options.log;
  }

  /** Producers that said nothing for {@link SILENT_MS} and have not ended. */
  get silent(): number {
    return this.#silent.size;
  }

  /** Reads the notes of earlier owners. */
  async load(): Promise<void> {
    const { rows } = await this.#db.query<OpenEpoch>({
      name: "read-click-producers",
      text: `select producer, epoch, said_ms as "lastMessageMs" from click_producer where lane = $1`,
      values: [this.#lane],
    });
    this.#noted = new Map(rows.map((row) => [keyOf(row), row]));
    this.#completeness.remember(rows);
    const givenUp = await this.#db.query<{ producer: number; atMs: number }>({
      name: "read-producers-given-up",
      text: `select id as producer, (extract(epoch from given_up_at) * 1000)::bigint as "atMs"
             from ingress_producer where given_up_at > now() - interval '72 hours'`,
    });
    this.#completeness.rememberGivenUp(givenUp.rows);
  }

  /** Notes producers that are new or have ended. Must be called before an acknowledgement. */
  async noteChanges(): Promise<void> {
    const open = new Map(this.#completeness.open.map((epoch) => [keyOf(epoch), epoch]));
    await this.#noteGone();
    const fresh = [...open].filter(([key]) => !this.#noted.has(key)).map(([, epoch]) => epoch);
    const ended = [...this.#noted].filter(([key]) => !open.has(key)).map(([, epoch]) => epoch);
    if (fresh.length > 0) {
      await this.#db.query({
        name: "note-click-producers",
        text: `insert into click_producer (lane, producer, epoch, said_ms)
               select $1, producer, epoch, said_ms
               from unnest($2::int[], $3::bigint[], $4::bigint[]) as open (producer, epoch, said_ms)
               on conflict (lane, producer, epoch) do update set said_ms = excluded.said_ms`,
        values: [this.#lane, ...columnsOf(fresh)],
      });
      for (const epoch of fresh) this.#noted.set(keyOf(epoch), epoch);
    }
    if (ended.length > 0) {
      await this.#db.query({
        name: "forget-click-producers",
        text: `delete from click_producer as known
               using unnest($2::int[], $3::bigint[]) as ended (producer, epoch)
               where known.lane = $1 and known.producer = ended.producer and known.epoch = ended.epoch`,
        values: [this.#lane, ...columnsOf(ended).slice(0, 2)],
      });
      for (const epoch of ended) this.#noted.delete(keyOf(epoch));
    }
  }

  /** Notes producers that were given up after a silence, as the command does, so that later owners of the lane know it. */
  async #noteGone(): Promise<void> {
    this.#gone.push(...this.#completeness.takeGone());
    if (this.#gone.length === 0) return;
    const [producers, , lastMessageMs] = columnsOf(this.#gone);
    await this.#db.query({
      name: "give-up-silent-producers",
      text: `update ingress_producer as known
             set given_up_at = now(), given_up_from_ms = least(known.given_up_from_ms, gone.said_ms)
             from (select producer, min(said_ms) as said_ms
                   from unnest($1::int[], $2::bigint[]) as gone (producer, said_ms) group by producer) gone
             where known.id = gone.producer`,
      values: [producers, lastMessageMs],
    });
    for (const epoch of this.#gone.splice(0)) this.#log.warn(epoch, "clicks.producer-given-up");
  }

  /**
   * Notes the times of the last messages. If a producer's row was removed, an administrator gave it up: its host and its journal are
   * lost.
   */
  async refresh(nowMs: number): Promise<void> {
    await this.noteChanges();
    const open = this.#completeness.open.filter((epoch) => this.#noted.has(keyOf(epoch)));
    this.#logSilent(open, nowMs);
    if (open.length === 0) return;
    const { rows } = await this.#db.query<OpenEpoch>({
      name: "refresh-click-producers",
      text: `update click_producer as known set said_ms = open.said_ms
             from unnest($2::int[], $3::bigint[], $4::bigint[]) as open (producer, epoch, said_ms)
             where known.lane = $1 and known.producer = open.producer and known.epoch = open.epoch
             returning known.producer, known.epoch, known.said_ms as "lastMessageMs"`,
      values: [this.#lane, ...columnsOf(open)],
    });
    const kept = new Set(rows.map(keyOf));
    for (const epoch of open) {
      if (kept.has(keyOf(epoch))) continue;
      this.#noted.delete(keyOf(epoch));
      this.#completeness.forget(epoch, nowMs);
      this.#log.warn(epoch, "clicks.producer-given-up");
    }
  }

  #logSilent(open: readonly OpenEpoch[], nowMs: number): void {
    const silent = open.filter(({ lastMessageMs }) => nowMs - lastMessageMs > SILENT_MS);
    for (const epoch of silent) {
      if (!this.#silent.has(keyOf(epoch))) this.#log.warn(epoch, "clicks.producer-silent");
    }
    this.#silent.clear();
    for (const epoch of silent) this.#silent.add(keyOf(epoch));
  }
}

function keyOf({ producer, epoch }: Pick<OpenEpoch, "producer" | "epoch">): string {
  return `${producer}.${epoch}`;
}

function columnsOf(epochs: readonly OpenEpoch[]): [number[], number[], number[]] {
  return [
    epochs.map(({ producer }) => producer),
    epochs.map(({ epoch }) => epoch),
    epochs.map(({ lastMessageMs }) => lastMessageMs),
  ];
}
