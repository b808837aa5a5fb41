import type { AdClickIdKind } from "../../../schemas/events/click-query.ts";
import { orderInMillisecond } from "../../../schemas/ids/click-id.ts";
import { readAdIds, readWorkspaceId } from "./read-line.ts";

/** A row that can be found by an ad ID. */
export type AdClick = {
  /** Kind and workspace of the ID, and the ID as written in the row. */
  readonly key: string;
  /** 0 for a click without an offer. */
  readonly offerId: number;
  /** UTC ms. */
  readonly ts: number;
  /** The row begins at `at` of these bytes and ends with a line feed. */
  readonly bytes: Buffer;
  readonly at: number;
};

/** A search for a click. `offerId` 0 names no offer. */
export type AdClickSearch = {
  readonly workspaceId: number;
  readonly offerId: number;
  readonly kind: AdClickIdKind;
  readonly value: string;
};

const LINE_FEED = 10;
const CLICK_ID = /"click_id":"([0-9a-f]{32})"/;

/**
 * The latest click of each ad ID on each offer, which is sufficient for G113. A click replaces an earlier one with the same ID and
 * offer, so an ID on every click costs no more to keep, to find and to remove than an ID on one click. The keys are complete texts in a
 * Map, whose hash is seeded, so an attacker cannot choose IDs that collide.
 */
export class AdClicks {
  /** One click, or a map by offer if the ID is on several offers. */
  readonly #latest = new Map<string, AdClick | Map<number, AdClick>>();

  add(click: AdClick): void {
    const known = this.#latest.get(click.key);
    if (known === undefined) {
      this.#latest.set(click.key, click);
    } else if (known instanceof Map) {
      const other = known.get(click.offerId);
      if (other === undefined || isLater(click, other)) known.set(click.offerId, click);
    } else if (known.offerId !== click.offerId) {
      const byOffer = new Map([known, click].map((one) => [one.offerId, one]));
      this.#latest.set(click.key, byOffer);
    } else if (isLater(click, known)) {
      this.#latest.set(click.key, click);
    }
  }

  /**
   * Removes a click. An older click with the same ID and offer is not found afterwards; it would lose against the removed click, which is
   * in ClickHouse.
   */
  remove(click: AdClick): void {
    const known = this.#latest.get(click.key);
    if (known === click) {
      this.#latest.delete(click.key);
    } else if (known instanceof Map && known.get(click.offerId) === click) {
      known.delete(click.offerId);
      if (known.size === 0) this.#latest.delete(click.key);
    }
  }

  /** At most three rows, newest last: the latest click on the offer, on any offer, and without an offer. */
  find({ workspaceId, offerId, kind, value }: AdClickSearch): string[] {
    const known = this.#latest.get(adClickKey({ workspaceId, kind, value }));
    if (known === undefined) return [];
    const byOffer = known instanceof Map ? known : new Map([[known.offerId, known]]);
    let onAny: AdClick | undefined;
    for (const click of byOffer.values()) {
      if (click.offerId !== 0 && (onAny === undefined || isLater(click, onAny))) onAny = click;
    }
    const found = new Set([byOffer.get(offerId), onAny, byOffer.get(0)]);
    return [...found]
      .filter((click) => click !== undefined)
      .sort((a, b) => a.ts - b.ts)
      .map(rowOf);
  }
}

/** The keys under which a click can be found. `line` is its record as latin1. */
export function adClickKeys(line: string): string[] {
  const ids = readAdIds(line);
  if (ids.length === 0) return [];
  const workspaceId = readWorkspaceId(line);
  // A copy: a substring would keep the text of the whole message in memory.
  return ids.map(({ kind, written }) =>
    Buffer.from(keyOf(workspaceId, kind, written), "latin1").toString("latin1"),
  );
}

/** The key of an ID as it is asked for. */
export function adClickKey({ workspaceId, kind, value }: Omit<AdClickSearch, "offerId">): string {
  const written = Buffer.from(JSON.stringify(value).slice(1, -1)).toString("latin1");
  return keyOf(workspaceId, kind, written);
}

function keyOf(workspaceId: number, kind: AdClickIdKind, written: string): string {
  return `${kind} ${workspaceId} ${written}`;
}

function isLater(click: AdClick, other: AdClick): boolean {
  if (click.ts !== other.ts) return click.ts > other.ts;
  // A message has the records of one producer in order.
  if (click.bytes === other.bytes) return click.at > other.at;
  return orderOf(click) >= orderOf(other);
}

function orderOf(click: AdClick): string {
  return orderInMillisecond(CLICK_ID.exec(rowOf(click))?.[1] ?? "");
}

export function rowOf({ bytes, at }: AdClick): string {
  return bytes.toString("utf8", at, bytes.indexOf(LINE_FEED, at));
}
