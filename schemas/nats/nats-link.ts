import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "../host/log.ts";
import { connectNats, type Nats, type NatsOptions } from "./connect.ts";

const RETRY_MS = 500;
/** A new connection is used after this time at the latest, even if the stores did not answer. */
const CHECK_MS_MAX = 500;
const CHECK_INTERVAL_MS = 5_000;
const CHECK_INTERVAL_MISMATCH_MS = 1_000;
const MISMATCHES_MIN = 3;
const STRANGE_STREAMS_TODO =
  "correct NATS_URL or NATS_PREFIX; after a restore run `tracker restored`. Records wait in the journal";

export type NatsLinkOptions = NatsOptions & {
  /** Whether the streams belong to this installation; undefined if unknown. Must not reject. */
  readonly areStreamsOwn?: (nats: Nats) => Promise<boolean | undefined>;
};

/**
 * The connection of ingress or the api to NATS. It may be down at the start and at any later time; clicks are still accepted (P2), and the
 * api answers what needs no NATS. `current` returns no connection while it is down, so nothing accumulates in its buffer, and while the
 * streams belong to another installation: records stay in the journal then, and questions are answered as in an outage.
 */
export class NatsLink {
  readonly #options: NatsLinkOptions;
  readonly #log: Log;
  readonly #onConnect: ((nats: Nats) => void)[] = [];
  #nats: Nats | undefined;
  #isConnected = false;
  #isMismatched = false;
  /** Consecutive checks that found streams of another installation; undefined before the first result. */
  #mismatches: number | undefined;
  #checkTimer: NodeJS.Timeout | undefined;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(options: NatsLinkOptions, log: Log) {
    this.#options = options;
    this.#log = log;
  }

  /** Starts connecting, and retries in the background until it succeeds. Resolves after the first attempt, whether it succeeds or fails. */
  async start(): Promise<void> {
    await this.#connect(true);
  }

  /** The connection while it is up. */
  current(): Nats | undefined {
    return this.#isConnected && !this.#isMismatched ? this.#nats : undefined;
  }

  /** Calls back with every new connection, to subscribe there. The client reconnects by itself, so there is usually one. */
  onConnection(listener: (nats: Nats) => void): void {
    this.#onConnect.push(listener);
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#checkTimer);
    await this.#nats?.connection.close();
  }

  async #connect(isFirstAttempt: boolean): Promise<void> {
    try {
      const nats = await connectNats(this.#options);
      await Promise.race([this.#check(nats), sleep(CHECK_MS_MAX, undefined, { ref: false })]);
      if (this.#closed) {
        await nats.connection.close();
        return;
      }
      this.#nats = nats;
      this.#isConnected = true;
      this.#log.info("nats.connected");
      for (const listener of this.#onConnect) listener(nats);
      void this.#watch(nats);
    } catch (error) {
      if (this.#closed) return;
      // Logged once per outage, not per attempt.
      if (isFirstAttempt) this.#log.warn({ err: error }, "nats.not-reached");
      this.#timer = setTimeout(() => void this.#connect(false), RETRY_MS);
    }
  }

  /** Repeats itself until the link is closed. An unknown result changes nothing. */
  async #check(nats: Nats): Promise<void> {
    clearTimeout(this.#checkTimer);
    const { areStreamsOwn } = this.#options;
    if (areStreamsOwn === undefined) return;
    const areOwn = await areStreamsOwn(nats);
    if (this.#closed || nats.connection.isClosed()) return;
    if (areOwn !== undefined) this.#judge(areOwn);
    const intervalMs = this.#mismatches ? CHECK_INTERVAL_MISMATCH_MS : CHECK_INTERVAL_MS;
    this.#checkTimer = setTimeout(() => void this.#check(nats), intervalMs);
  }

  /** While Postgres is replaced by another server, one check may see both. So only the first check counts alone. */
  #judge(areOwn: boolean): void {
    const needed = this.#mismatches === undefined ? 1 : MISMATCHES_MIN;
    this.#mismatches = areOwn ? 0 : (this.#mismatches ?? 0) + 1;
    const isMismatched = this.#mismatches >= needed || (this.#isMismatched && !areOwn);
    if (isMismatched === this.#isMismatched) return;
    this.#isMismatched = isMismatched;
    if (areOwn) this.#log.info("nats.streams-are-own");
    else this.#log.error({ todo: STRANGE_STREAMS_TODO }, "nats.streams-of-another-installation");
  }

  /** Returns when the connection has ended. A connection that the client gives up is replaced by a new one. */
  async #watch(nats: Nats): Promise<void> {
    for await (const { type } of nats.connection.status()) {
      if (type === "disconnect") {
        this.#isConnected = false;
        this.#log.warn("nats.disconnected");
      } else if (type === "reconnect") {
        this.#isConnected = true;
        this.#log.info("nats.connected");
      }
    }
    this.#isConnected = false;
    if (this.#closed) return;
    const fault = await nats.connection.closed();
    this.#log.warn({ err: fault }, "nats.given-up");
    this.#timer = setTimeout(() => void this.#connect(true), RETRY_MS);
  }
}
