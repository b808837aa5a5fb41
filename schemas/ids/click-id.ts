import { hash, randomBytes } from "node:crypto";
import type { Clock } from "../time/clock.ts";

/*
 * A click id is 128 bits, written as 32 lower-case hex digits:
 *   12 digits  UTC milliseconds of the click, equal to its `ts`: where to look in ClickHouse
 *    2 digits  shard: which click writer knows it while it is young
 *    4 digits  producer: the ingress process that minted it
 *   10 digits  random; a producer's later ids of the same millisecond are higher
 *    4 digits  MAC: detects invented ids without a look-up; 1 of 65,536 passes by chance, and is then not found
 */
const ID_DIGITS = /^[0-9a-f]{32}$/;
const HEAD_DIGITS = 18;
const RANDOM_DIGITS = 10;
const MAC_DIGITS = 4;
const RANDOM_BYTES = RANDOM_DIGITS / 2;
const RANDOM_POOL_BYTES = 20_480;
const RANDOM_END = 2 ** (8 * RANDOM_BYTES);
/** Bound of the random part of a millisecond's first id. The range above it is for the ids that follow. */
const FIRST_END = RANDOM_END / 2;
/** Maximum step between two ids of a millisecond. The next id is as hard to guess as 22 bits and the MAC. */
const STEP_MAX = 2 ** 24;
const LOW_WORD = 2 ** 32;
/** Time stands still while a clock that stepped back by up to this catches up. After a larger step, time goes back with the clock. */
const STEP_BACK_MS_MAX = 1_000;
/** How often a producer may repeat a millisecond. The lowest bits of the random part distinguish the repeats. */
const ERAS = 4;
const BYTE_DIGITS: readonly string[] = Array.from({ length: 256 }, (_, byte) => hex(byte, 2));

/** The parts of an id. They do not prove that the click exists. */
export type ClickIdParts = {
  readonly atMs: number;
  readonly shard: number;
  readonly producer: number;
};

/** Lower-cases a click id from a request; undefined unless it is 32 hex digits. */
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

/**
 * Orders clicks of one millisecond: higher for the click that its producer minted later. Between two producers the order is arbitrary but
 * always the same.
 */
export function orderInMillisecond(id: string): string {
  return id.slice(HEAD_DIGITS);
}

/** Whether the MAC of the id fits this secret. An invented id passes with a probability of 1 in 65,536. */
export function isGenuineClickId(id: string, secret: string): boolean {
  const random = Number.parseInt(id.slice(HEAD_DIGITS, -MAC_DIGITS), 16);
  return macOf(keyOf(id.slice(0, HEAD_DIGITS), secret), random) === id.slice(-MAC_DIGITS);
}

/** Mints a single id. A producer of many ids uses a {@link ClickIdMint}. */
export function mintClickId({ atMs, shard, producer }: ClickIdParts, secret: string): string {
  const head = headOf(atMs, shard, hex(producer, 4));
  const random = randomBytes(RANDOM_BYTES).readUIntBE(0, RANDOM_BYTES);
  return head + randomDigits(random) + macOf(keyOf(head, secret), random);
}

/**
 * Mints the click ids of one producer, each once. Its time does not go back when the clock steps back a little, and within a millisecond
 * each id is higher than the one before ({@link orderInMillisecond}). So ids, journal positions and `ts` of a producer have the same order.
 * Only after a step back of more than {@link STEP_BACK_MS_MAX} does the time go back too.
 */
export class ClickIdMint {
  readonly #producerDigits: string;
  readonly #secret: string;
  readonly #clock: Clock;
  #lastMs = 0;
  /** Changes with each step back. */
  #era = 0;
  /** The newest of each shard: many ids share a millisecond and a shard. */
  readonly #heads: Head[] = [];
  /** Time and random part of the newest id. */
  #latestMs = -1;
  #latest = 0;
  readonly #random: () => number;

  /** `random` returns 40 bits. */
  constructor(options: {
    producer: number;
    secret: string;
    clock: Clock;
    random?: () => number;
  }) {
    this.#producerDigits = hex(options.producer, 4);
    this.#secret = options.secret;
    this.#clock = options.clock;
    this.#random = options.random ?? randomNumbers();
  }

  /** The time of the next click: the clock's time, or the last click's if the clock stepped back a little. */
  nowMs(): number {
    const nowMs = this.#clock.nowMs();
    const isFarBack = this.#lastMs - nowMs > STEP_BACK_MS_MAX;
    if (isFarBack) this.#era = (this.#era + 1) % ERAS;
    if (isFarBack || nowMs > this.#lastMs) this.#lastMs = nowMs;
    return this.#lastMs;
  }

  /** `atMs` is a result of {@link nowMs}; `shard` is 0 to 255. */
  mint(atMs: number, shard: number): string {
    this.#latest =
      this.#latestMs === atMs ? this.#nextRandom() : this.#inEra(this.#random() % FIRST_END);
    this.#latestMs = atMs;
    const { digits, key } = this.#headOf(atMs, shard);
    return digits + randomDigits(this.#latest) + macOf(key, this.#latest);
  }

  /** The nearest number that no other era uses. */
  #inEra(random: number): number {
    return random - (random % ERAS) + this.#era;
  }

  #headOf(atMs: number, shard: number): Head {
    const known = this.#heads[shard];
    if (known?.atMs === atMs) return known;
    const digits = headOf(atMs, shard, this.#producerDigits);
    const head = { atMs, digits, key: keyOf(digits, this.#secret) };
    this.#heads[shard] = head;
    return head;
  }

  /** A number above the newest one. Moves on to the next millisecond if this one is nearly used up: after 32,000 ids at the earliest. */
  #nextRandom(): number {
    const next = this.#inEra(this.#latest + ERAS + (this.#random() % STEP_MAX));
    if (next >= RANDOM_END) throw new RangeError("this millisecond has no more click ids");
    if (next >= RANDOM_END - STEP_MAX) this.#lastMs = Math.max(this.#lastMs, this.#latestMs + 1);
    return next;
  }
}

function headOf(atMs: number, shard: number, producerDigits: string): string {
  return hex(atMs, 12) + hex(shard, 2) + producerDigits;
}

/** Random bytes are fetched in blocks: a system call for each id would cost more than the rest of it. */
function randomNumbers(): () => number {
  let pool = Buffer.alloc(0);
  let used = 0;
  return () => {
    if (used + RANDOM_BYTES > pool.length) {
      pool = randomBytes(RANDOM_POOL_BYTES);
      used = 0;
    }
    used += RANDOM_BYTES;
    return pool.readUIntBE(used - RANDOM_BYTES, RANDOM_BYTES);
  };
}

/** Byte by byte, because `toString(16)` of a number beyond 31 bits takes longer than the rest of an id. */
function randomDigits(random: number): string {
  const low = random >>> 0;
  return (
    byteDigits(Math.floor(random / LOW_WORD)) +
    byteDigits(low >>> 24) +
    byteDigits((low >>> 16) & 0xff) +
    byteDigits((low >>> 8) & 0xff) +
    byteDigits(low & 0xff)
  );
}

function byteDigits(byte: number): string {
  return BYTE_DIGITS[byte] ?? "";
}

/** Three secret 32-bit numbers that ids with the same time, shard and producer share. */
type MacKey = { readonly high: number; readonly low: number; readonly sum: number };

/** What ids of the same millisecond and shard share. */
type Head = { readonly atMs: number; readonly digits: string; readonly key: MacKey };

function keyOf(head: string, secret: string): MacKey {
  const digest = hash("sha256", secret + head, "hex");
  const word = (at: number): number => Number.parseInt(digest.slice(at * 8, at * 8 + 8), 16) | 0;
  return { high: word(0), low: word(1), sum: word(2) };
}

/**
 * Mixes the random part with the key of its millisecond, shard and producer. The keyed hash costs 0.4 µs and is computed once for all ids
 * that share the key. An invented id passes with a probability of 1 in 65,536. A key reveals nothing about other keys. From several ids
 * with one key, more ids could be invented, but invented ids are not found.
 */
function macOf({ high, low, sum }: MacKey, random: number): string {
  let mixed = random ^ low;
  mixed = Math.imul(mixed ^ (mixed >>> 16), high | 1);
  mixed = (mixed ^ (mixed >>> 15)) + Math.imul(Math.floor(random / LOW_WORD) + 1, low | 1);
  mixed = Math.imul(mixed ^ (mixed >>> 16), sum | 1);
  mixed = Math.imul(mixed ^ (mixed >>> 15), high | 1);
  return hex((mixed ^ (mixed >>> 16)) & 0xffff, MAC_DIGITS);
}

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, "0");
}
