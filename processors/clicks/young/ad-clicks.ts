import type { AdClickIdKind } from "../../../schemas/events/click-query.ts";
import { orderInMillisecond } from "../../../schemas/ids/click-id.ts";
import { readAdIds, readWorkspaceId } from "../intake/read-line.ts";

/** A row that is found by an ad-platform id. */
export type AdClick = {
  /** Kind and workspace of the id, and the id as the row has it. */
  readonly key: string;
  /** 0 for a click without an offer. */
  readonly offerId: number;
  /** UTC ms. */
  readonly ts: number;
  /** The row begins at `at` of these bytes and ends with a line feed. */
  readonly bytes: Buffer;
  readonly at: number;
};

/** What a click is looked for by. `offerId` 0 names no offer. */
export type AdClickSearch = {
  readonly workspaceId: number;
  readonly offerId: number;
  readonly kind: AdClickIdKind;
  readonly value: string;
};

const LINE_FEED = 10;
const CLICK_ID = /"click_id":"([0-9a-f]{32})"/;

/**
 * The latest click of each ad-platform id on each offer: all that G113 asks for. Clicks with the same id and offer replace each
 * other, so an id that is on every click costs no more to keep, to look up and to remove than one that is on a single click.
 * The keys are whole texts in a Map, whose hash is seeded: nobody can choose ids that collide.
 */
export class AdClicks {
  /** One click, or by offer the clicks of an id that is on several offers. */
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

  /** An older click with the same id and offer is not found from now on: ClickHouse has this one, which goes before it. */
  remove(click: AdClick): void {
    const known = this.#latest.get(click.key);
    if (known === click) {
      this.#latest.delete(click.key);
    } else if (known instanceof Map && known.get(click.offerId) === click) {
      known.delete(click.offerId);
      if (known.size === 0) this.#latest.delete(click.key);
    }
  }

  /** At most three rows, newest last: the latest click on the offer, on any offer, and without one. */
  find({ workspaceId, offerId, kind, value }: AdClickSearch): string[] {
    const written = Buffer.from(JSON.stringify(value).slice(1, -1)).toString("latin1");
    const known = this.#latest.get(keyOf(workspaceId, kind, written));
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

/** The keys under which a click is found. `line` is its record as latin1. */
export function adClickKeys(line: string): string[] {
  const ids = readAdIds(line);
  if (ids.length === 0) return [];
  const workspaceId = readWorkspaceId(line);
  // Copied: a part of the message's text would keep all of it in memory.
  return ids.map(({ kind, written }) =>
    Buffer.from(keyOf(workspaceId, kind, written), "latin1").toString("latin1"),
  );
}

function keyOf(workspaceId: number, kind: AdClickIdKind, written: string): string {
  return `${kind} ${workspaceId} ${written}`;
}

function isLater(click: AdClick, other: AdClick): boolean {
  if (click.ts !== other.ts) return click.ts > other.ts;
  // A message has the records of one producer in their order.
  if (click.bytes === other.bytes) return click.at > other.at;
  return orderOf(click) >= orderOf(other);
}

function orderOf(click: AdClick): string {
  return orderInMillisecond(CLICK_ID.exec(rowOf(click))?.[1] ?? "");
}

function rowOf({ bytes, at }: AdClick): string {
  return bytes.toString("utf8", at, bytes.indexOf(LINE_FEED, at));
}
