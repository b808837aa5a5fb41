import { hash, randomBytes } from "node:crypto";
import type { Clock } from "../time/clock.ts";

/*
 * A click id is 128 bits, written as 32 lower-case hex digits:
 *   12 digits  UTC milliseconds of the click, equal to its `ts`: where to look in ClickHouse
 *    2 digits  shard: which click writer knows it while it is young
 *    4 digits  producer: the ingress process that minted it
 *   10 digits  random
 *    4 digits  MAC: refuses made-up ids without a look-up; 1 of 65,536 passes by chance and is then simply not found
 */
const ID_DIGITS = /^[0-9a-f]{32}$/;
const RANDOM_DIGITS = 10;
const MAC_DIGITS = 4;
const RANDOM_POOL_BYTES = 20_480;

/** What an id says about itself. Nothing here is proof that the click exists. */
export type ClickIdParts = {
  readonly atMs: number;
  readonly shard: number;
  readonly producer: number;
};

/** Lower-cases a click id of the outside; undefined unless it is 32 hex digits. */
export function parseClickId(text: string): string | undefined {
  const id = text.toLowerCase();
  return ID_DIGITS.test(id) ? id : undefined;
}

export function clickIdParts(id: string): ClickIdParts {
  return {
    atMs: Number.parseInt(id.slice(0, 12), 16),
    shard: Number.parseInt(id.slice(12, 14), 16),
    producer: Number.parseInt(id.slice(14, 18), 16),
  };
}

/** Whether an installation with this secret minted the id. */
export function isGenuineClickId(id: string, secret: string): boolean {
  return macOf(id.slice(0, -MAC_DIGITS), secret) === id.slice(-MAC_DIGITS);
}

/**
 * Mints the click ids of one producer. Its time never goes back, also when the clock does, so that ids, positions in the
 * journal and `ts` of a producer are in one order.
 */
export class ClickIdMint {
  readonly #producerDigits: string;
  readonly #secret: string;
  readonly #clock: Clock;
  #lastMs = 0;
  #pool = "";
  #poolUsed = 0;

  constructor(options: { producer: number; secret: string; clock: Clock }) {
    this.#producerDigits = hex(options.producer, 4);
    this.#secret = options.secret;
    this.#clock = options.clock;
  }

  /** The time of the next click: the clock's, or that of the last click if the clock stepped back. */
  nowMs(): number {
    this.#lastMs = Math.max(this.#lastMs, this.#clock.nowMs());
    return this.#lastMs;
  }

  /** `atMs` is an answer of {@link nowMs}; `shard` is 0 to 255. */
  mint(atMs: number, shard: number): string {
    const head = hex(atMs, 12) + hex(shard, 2) + this.#producerDigits + this.#random();
    return head + macOf(head, this.#secret);
  }

  #random(): string {
    if (this.#poolUsed + RANDOM_DIGITS > this.#pool.length) {
      this.#pool = randomBytes(RANDOM_POOL_BYTES).toString("hex");
      this.#poolUsed = 0;
    }
    this.#poolUsed += RANDOM_DIGITS;
    return this.#pool.slice(this.#poolUsed - RANDOM_DIGITS, this.#poolUsed);
  }
}

function macOf(head: string, secret: string): string {
  // Truncated to 16 bits, a plain keyed hash gives an attacker nothing to extend; it costs 0.25 µs, an HMAC 2 µs.
  return hash("sha256", secret + head, "hex").slice(0, MAC_DIGITS);
}

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, "0");
}
