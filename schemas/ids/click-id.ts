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
const HEAD_DIGITS = 18;
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
  const random = id.slice(HEAD_DIGITS, -MAC_DIGITS);
  return macOf(keyOf(id.slice(0, HEAD_DIGITS), secret), random) === id.slice(-MAC_DIGITS);
}

/** An id of this time for whoever mints few: a producer with many has a {@link ClickIdMint}. */
export function mintClickId({ atMs, shard, producer }: ClickIdParts, secret: string): string {
  const head = headOf(atMs, shard, hex(producer, 4));
  const random = randomBytes(RANDOM_DIGITS / 2).toString("hex");
  return head + random + macOf(keyOf(head, secret), random);
}

/**
 * Mints the click ids of one producer, each once. Its time never goes back, also when the clock does, so that ids, positions in the
 * journal and `ts` of a producer are in one order.
 */
export class ClickIdMint {
  readonly #producerDigits: string;
  readonly #secret: string;
  readonly #clock: Clock;
  #lastMs = 0;
  /** Of the newest id: many share a millisecond and a shard. */
  #head = { atMs: -1, shard: -1, digits: "", key: NO_KEY };
  /** Random parts that ids of this millisecond have: 40 bits meet again once in weeks at 50,000 ids a second. */
  readonly #used = new Set<string>();
  readonly #random: () => string;

  /** `random` gives 10 hex digits. */
  constructor(options: {
    producer: number;
    secret: string;
    clock: Clock;
    random?: () => string;
  }) {
    this.#producerDigits = hex(options.producer, 4);
    this.#secret = options.secret;
    this.#clock = options.clock;
    this.#random = options.random ?? randomDigits();
  }

  /** The time of the next click: the clock's, or that of the last click if the clock stepped back. */
  nowMs(): number {
    this.#lastMs = Math.max(this.#lastMs, this.#clock.nowMs());
    return this.#lastMs;
  }

  /** `atMs` is an answer of {@link nowMs}; `shard` is 0 to 255. */
  mint(atMs: number, shard: number): string {
    if (this.#head.atMs !== atMs || this.#head.shard !== shard) {
      const digits = headOf(atMs, shard, this.#producerDigits);
      if (this.#head.atMs !== atMs) this.#used.clear();
      this.#head = { atMs, shard, digits, key: keyOf(digits, this.#secret) };
    }
    let random = this.#random();
    while (this.#used.has(random)) random = this.#random();
    this.#used.add(random);
    return this.#head.digits + random + macOf(this.#head.key, random);
  }
}

function headOf(atMs: number, shard: number, producerDigits: string): string {
  return hex(atMs, 12) + hex(shard, 2) + producerDigits;
}

/** Asking the system for each would cost more than all the rest of an id. */
function randomDigits(): () => string {
  let pool = "";
  let used = 0;
  return () => {
    if (used + RANDOM_DIGITS > pool.length) {
      pool = randomBytes(RANDOM_POOL_BYTES).toString("hex");
      used = 0;
    }
    used += RANDOM_DIGITS;
    return pool.slice(used - RANDOM_DIGITS, used);
  };
}

/** Three secret 32-bit numbers of all ids with one head. */
type MacKey = { readonly high: number; readonly low: number; readonly sum: number };

const NO_KEY: MacKey = { high: 0, low: 0, sum: 0 };

function keyOf(head: string, secret: string): MacKey {
  const digest = hash("sha256", secret + head, "hex");
  const word = (at: number): number => Number.parseInt(digest.slice(at * 8, at * 8 + 8), 16) | 0;
  return { high: word(0), low: word(1), sum: word(2) };
}

/**
 * Mixes the random part under a key of its own for every millisecond and shard: the keyed hash costs 0.4 µs and is needed once for
 * all of them. A made-up id passes with 1 in 65,536. The key says nothing about that of another millisecond, and what could be
 * learnt from several ids of one is how to make up more of it, which are then not found.
 */
function macOf({ high, low, sum }: MacKey, random: string): string {
  let mixed = Number.parseInt(random.slice(2), 16) ^ low;
  mixed = Math.imul(mixed ^ (mixed >>> 16), high | 1);
  mixed =
    (mixed ^ (mixed >>> 15)) + Math.imul(Number.parseInt(random.slice(0, 2), 16) + 1, low | 1);
  mixed = Math.imul(mixed ^ (mixed >>> 16), sum | 1);
  mixed = Math.imul(mixed ^ (mixed >>> 15), high | 1);
  return hex((mixed ^ (mixed >>> 16)) & 0xffff, MAC_DIGITS);
}

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, "0");
}
