import { hostname } from "node:os";
import type { Log } from "../../schemas/host/log.ts";
import { pause } from "../../schemas/host/pause.ts";
import type { Queryable } from "../../schemas/postgres/connect.ts";
import { readRuns } from "./journal-run.ts";
import type { ProducerFolder } from "./producer-folder.ts";

const HEARTBEAT_MS = 2_000;
/** After this time a process on the original of this folder has seen our run in Postgres and given up the number. */
const CONFIRMED_MS = 5_000;
const CLOSE_MS = 2_000;

export type ProducerClaimOptions = {
  readonly db: Queryable;
  readonly folder: ProducerFolder;
  readonly log: Log;
  /** The number belongs to another folder, or to another copy of this folder. Called once. */
  readonly onLost: (reason: string) => void;
};

/** `isQuiet`: no run had the number in the last 30 s. `contestedAt`: when another process last found its number taken. */
type Row = { isQuiet: boolean; contestedAt: string | null };

/**
 * Writes to Postgres every two seconds which run has a producer number. A run takes the number over from earlier runs of its folder.
 * Any other run in Postgres means a second folder with this number, or a copy of this folder. Clicks never wait for it: without Postgres
 * a process continues, and nonces distinguish its epochs.
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
   * True once it is certain that no other process runs on a copy of this folder. Until then, do not declare that earlier epochs have
   * ended, or that records which this folder lacks are lost.
   */
  get isConfirmed(): boolean {
    if (this.#isOver || this.#claimedAtMs === undefined) return false;
    return this.#isSole || performance.now() - this.#claimedAtMs > CONFIRMED_MS;
  }

  /** Writes that the run has ended, so that the next one need not wait. Waits at most 2 s for Postgres. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    const timeout = new AbortController();
    await Promise.race([this.#writeEnd(), pause(CLOSE_MS, timeout.signal)]);
    timeout.abort();
  }

  async #writeEnd(): Promise<void> {
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
      const row = await this.#writeRun();
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
        // The other process has given the number up but still ships its records, so this run is never confirmed again.
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
  async #writeRun(): Promise<Row | undefined> {
    const { db, folder } = this.#options;
    const { rows } = await db.query<Row>({
      name: "note-producer-run",
      text: `with before as (select run_at from ingress_producer where id = $1)
             insert into ingress_producer as known (id, host, nonce, run, run_epoch, run_at)
               overriding system value values ($1, $2, $3, $4, $5, now())
             on conflict (id) do update set host = excluded.host, nonce = excluded.nonce,
               run = excluded.run, run_epoch = excluded.run_epoch, run_at = excluded.run_at,
               given_up_at = null, given_up_from_ms = null, quiet_since = null, free_at = null
             where (known.nonce is null or known.nonce = excluded.nonce)
               and (known.run is null or known.run = any($6::text[]))
             returning contested_at as "contestedAt",
               coalesce((select run_at < now() - interval '30 seconds' from before), true) as "isQuiet"`,
      values: [folder.producer, hostname(), folder.claim, folder.nonce, folder.epoch, this.#runs],
    });
    return rows[0];
  }

  /** Sets `contested_at` for the process that has the number. Returns the reason as text. */
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
      : `the number was given to another journal folder, on host ${host}: this journal was away for over a week, or Postgres was restored from a backup`;
  }
}
