import type { AdClickIdKind } from "../../schemas/events/click-query.ts";
import { clickIdParts } from "../../schemas/ids/click-id.ts";
import type { Segment } from "./batch.ts";

export type YoungLimits = {
  /** Of clicks that ClickHouse has too; younger ones may leave earlier for the other two limits. */
  readonly ageMs: number;
  readonly bytesMax: number;
  readonly segmentsMax: number;
};

const BUCKET_MS = 1_000;
/** A segment over a longer time, from an ingress with little traffic or a stopped clock, is looked at for every question. */
const SPAN_MS_MAX = 10_000;
/** Slots of left segments before the list is cut. */
const LEFT_MAX = 4_096;
const LINE_FEED = 10;
/** Hashes that V8 keeps without an object of their own. */
const HASH_MASK = 0x3fff_ffff;

/**
 * The clicks that were read lately, in the order of the stream, as the bytes that go to ClickHouse: nothing is made for a
 * click that nobody asks for. A click id tells its time, and so the few segments that are searched; ad-platform ids are
 * found by a hash. What is not in ClickHouse yet never leaves: how much that is, is bounded by the one who fills this.
 */
export class YoungClicks {
  readonly #limits: YoungLimits;
  readonly #bySecond = new Map<number, Set<Segment>>();
  readonly #wide = new Set<Segment>();
  readonly #byAdHash = new Map<number, Segment | Segment[]>();
  #queue: (Segment | undefined)[] = [];
  #head = 0;
  #bytes = 0;
  #clicks = 0;

  constructor(limits: YoungLimits) {
    this.#limits = limits;
  }

  get count(): number {
    return this.#clicks;
  }

  get bytes(): number {
    return this.#bytes;
  }

  add(segment: Segment): void {
    this.#queue.push(segment);
    this.#bytes += segment.bytes.length;
    this.#clicks += segment.to - segment.from;
    for (const second of secondsOf(segment)) {
      const known = this.#bySecond.get(second);
      if (known === undefined) this.#bySecond.set(second, new Set([segment]));
      else known.add(segment);
    }
    if (isWide(segment)) this.#wide.add(segment);
    for (const hash of segment.adHashes) {
      const known = this.#byAdHash.get(hash);
      if (known === undefined) this.#byAdHash.set(hash, segment);
      else if (!Array.isArray(known)) this.#byAdHash.set(hash, [known, segment]);
      else known.push(segment);
    }
  }

  /** The row of a click as JSON. */
  byId(clickId: string): string | undefined {
    const { atMs } = clickIdParts(clickId);
    const wanted = `"click_id":"${clickId}"`;
    const candidates = [this.#bySecond.get(Math.floor(atMs / BUCKET_MS)) ?? [], this.#wide];
    for (const segments of candidates) {
      for (const segment of segments) {
        if (segment.fromMs > atMs || segment.toMs < atMs) continue;
        const at = segment.bytes.indexOf(wanted);
        if (at >= 0) return lineAt(segment.bytes, at);
      }
    }
    return undefined;
  }

  /** The rows of clicks with this ad-platform id, of any workspace, in the order in which they were read. */
  byAdClickId(kind: AdClickIdKind, value: string): string[] {
    const written = Buffer.from(JSON.stringify(value).slice(1, -1)).toString("latin1");
    const known = this.#byAdHash.get(adClickHash(kind, written));
    const segments = new Set(known === undefined || Array.isArray(known) ? known : [known]);
    const wanted = `"${kind}":${JSON.stringify(value)}`;
    const rows: string[] = [];
    for (const { bytes } of segments) {
      let at = bytes.indexOf(wanted);
      while (at >= 0) {
        rows.push(lineAt(bytes, at));
        at = bytes.indexOf(wanted, bytes.indexOf(LINE_FEED, at));
      }
    }
    return rows;
  }

  /** Lets go what is stored and too old or too much. */
  forget(nowMs: number): void {
    for (;;) {
      const segment = this.#queue[this.#head];
      if (segment === undefined || !segment.isStored || !this.#isTooMuch(segment, nowMs)) break;
      this.#queue[this.#head] = undefined;
      this.#head += 1;
      this.#remove(segment);
    }
    if (this.#head > LEFT_MAX && this.#head > this.#queue.length / 2) {
      this.#queue = this.#queue.slice(this.#head);
      this.#head = 0;
    }
  }

  #isTooMuch(segment: Segment, nowMs: number): boolean {
    const { ageMs, bytesMax, segmentsMax } = this.#limits;
    return (
      nowMs - segment.readAtMs > ageMs ||
      this.#bytes > bytesMax ||
      this.#queue.length - this.#head > segmentsMax
    );
  }

  #remove(segment: Segment): void {
    this.#bytes -= segment.bytes.length;
    this.#clicks -= segment.to - segment.from;
    for (const second of secondsOf(segment)) {
      const rest = this.#bySecond.get(second);
      rest?.delete(segment);
      if (rest?.size === 0) this.#bySecond.delete(second);
    }
    this.#wide.delete(segment);
    for (const hash of segment.adHashes) {
      const known = this.#byAdHash.get(hash);
      const rest = Array.isArray(known) ? known.filter((other) => other !== segment) : [];
      if (rest.length > 0) this.#byAdHash.set(hash, rest);
      else if (Array.isArray(known) || known === segment) this.#byAdHash.delete(hash);
    }
  }
}

/**
 * By what an ad-platform id is looked for; another id may have the same. `value` is as it is written in the row: JSON without
 * its quotes, its UTF-8 bytes as latin1.
 */
export function adClickHash(kind: AdClickIdKind, value: string): number {
  let hash = kind.charCodeAt(0) * 31 + kind.charCodeAt(1);
  for (let index = 0; index < value.length; index += 1) {
    hash = Math.imul(hash ^ value.charCodeAt(index), 0x0100_0193);
  }
  return (hash ^ (hash >>> 15)) & HASH_MASK;
}

function isWide(segment: Segment): boolean {
  return segment.toMs - segment.fromMs > SPAN_MS_MAX;
}

function secondsOf(segment: Segment): number[] {
  if (isWide(segment)) return [];
  const seconds: number[] = [];
  const last = Math.floor(segment.toMs / BUCKET_MS);
  for (let second = Math.floor(segment.fromMs / BUCKET_MS); second <= last; second += 1) {
    seconds.push(second);
  }
  return seconds;
}

function lineAt(bytes: Buffer, at: number): string {
  const start = bytes.lastIndexOf(LINE_FEED, at) + 1;
  return bytes.toString("utf8", start, bytes.indexOf(LINE_FEED, at));
}
