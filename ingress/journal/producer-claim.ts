import { hostname } from "node:os";
import type { Log } from "../../schemas/host/log.ts";
import { pause } from "../../schemas/host/pause.ts";
import type { Queryable } from "../../schemas/postgres/connect.ts";
import { readRuns } from "./journal-run.ts";
import type { ProducerFolder } from "./producer-folder.ts";

const HEARTBEAT_MS = 2_000;
/** By then, a process that runs on the original of this folder has seen our run in Postgres and left the number. */
const CONFIRMED_MS = 5_000;
const CLOSE_MS = 2_000;

export type ProducerClaimOptions = {
  readonly db: Queryable;
  readonly folder: ProducerFolder;
  readonly log: Log;
  /** The number belongs to another folder, or to another copy of this one. Called once. */
  readonly onLost: (reason: string) => void;
};

type Row = { isQuiet: boolean; contestedAt: string | null };

/**
 * Writes to Postgres every two seconds which run has a producer number. A run takes the number over from the runs that its
 * folder remembers. Any other run there means a second folder with this number, or a copy of this folder. Nothing waits for it:
 * without Postgres a process goes on, and nonces distinguish its epochs.
 */
export class ProducerClaim {
  readonly #options: ProducerClaimOptions;
  readonly #runs: readonly string[];
  #timer: NodeJS.Timeout | undefined;
  #underWay: Promise<void> = Promise.resolve();
  #isUnderWay = false;
  #claimedAtMs: number | undefined;
  #firstContestedAt: string | null = null;
  #isSole = false;
  #isOver = false;

  constructor(options: ProducerClaimOptions) {
    this.#options = options;
    this.#runs = readRuns(options.folder.path).map(({ nonce }) => nonce);
  }

  start(): void {
    this.#beat();
    this.#timer = setInterval(() => this.#beat(), HEARTBEAT_MS);
  }

  /**
   * Whether no other process runs on a copy of this folder. Until then no process may declare that earlier epochs have ended, or
   * that records which this folder lacks are lost.
   */
  get isConfirmed(): boolean {
    if (this.#isOver || this.#claimedAtMs === undefined) return false;
    return this.#isSole || performance.now() - this.#claimedAtMs > CONFIRMED_MS;
  }

  /** Writes that the run has ended, so that the next one need not wait for it. Does not wait for a Postgres that hangs. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    const patience = new AbortController();
    await Promise.race([this.#noteEnd(), pause(CLOSE_MS, patience.signal)]);
    patience.abort();
  }

  async #noteEnd(): Promise<void> {
    await this.#underWay;
    if (this.#isOver || this.#claimedAtMs === undefined) return;
    this.#isOver = true;
    const { db, folder, log } = this.#options;
    try {
      await db.query({
        name: "end-producer-run",
        text: "update ingress_producer set run_at = null where id = $1 and run = $2",
        values: [folder.producer, folder.nonce],
      });
    } catch (error) {
      log.warn({ err: error }, "producer.run-not-ended");
    }
  }

  #beat(): void {
    // One at a time: while Postgres hangs, no second statement waits for it.
    if (this.#isUnderWay || this.#isOver) return;
    this.#isUnderWay = true;
    this.#underWay = this.#claim().finally(() => {
      this.#isUnderWay = false;
    });
  }

  async #claim(): Promise<void> {
    const { folder, log, onLost } = this.#options;
    try {
      const row = await this.#note();
      if (row === undefined) {
        this.#isOver = true;
        clearInterval(this.#timer);
        onLost(await this.#contest());
        return;
      }
      if (this.#claimedAtMs === undefined) {
        this.#claimedAtMs = performance.now();
        this.#firstContestedAt = row.contestedAt;
        this.#isSole = row.isQuiet;
        log.info({ producer: folder.producer, epoch: folder.epoch }, "producer.run-noted");
      } else if (row.contestedAt !== this.#firstContestedAt) {
        // The other process has left and still ships its records: not confirmed before it had time to do so.
        this.#firstContestedAt = row.contestedAt;
        this.#claimedAtMs = Number.POSITIVE_INFINITY;
        this.#isSole = false;
        log.error({ producer: folder.producer }, "producer.journal-was-copied");
      }
    } catch (error) {
      log.debug({ err: error }, "producer.run-not-noted");
    }
  }

  /** Undefined when another process has the number. */
  async #note(): Promise<Row | undefined> {
    const { db, folder } = this.#options;
    const { rows } = await db.query<Row>({
      name: "note-producer-run",
      text: `with before as (select run_at from ingress_producer where id = $1)
             insert into ingress_producer as known (id, host, nonce, run, run_epoch, run_at)
               overriding system value values ($1, $2, $3, $4, $5, now())
             on conflict (id) do update set host = excluded.host, nonce = excluded.nonce,
               run = excluded.run, run_epoch = excluded.run_epoch, run_at = excluded.run_at,
               given_up_at = null, given_up_from_ms = null
             where (known.nonce is null or known.nonce = excluded.nonce)
               and (known.run is null or known.run = any($6::text[]))
             returning contested_at as "contestedAt",
               coalesce((select run_at < now() - interval '30 seconds' from before), true) as "isQuiet"`,
      values: [folder.producer, hostname(), folder.claim, folder.nonce, folder.epoch, this.#runs],
    });
    return rows[0];
  }

  /** Leaves a mark for the process that has the number. Returns the reason in words. */
  async #contest(): Promise<string> {
    const { db, folder } = this.#options;
    const { rows } = await db.query<{ host: string; isOwnFolder: boolean }>({
      name: "contest-producer",
      text: `update ingress_producer set contested_at = now() where id = $1
             returning host, nonce = $2 as "isOwnFolder"`,
      values: [folder.producer, folder.claim],
    });
    const host = rows[0]?.host ?? "unknown";
    return rows[0]?.isOwnFolder === true
      ? `another process, on host ${host}, runs on a copy of this journal folder`
      : `the number was given to another journal folder, on host ${host}: Postgres was restored from a backup`;
  }
}
