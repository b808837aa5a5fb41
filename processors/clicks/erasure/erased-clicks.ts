import { keyedHash } from "../../../schemas/erasure/keyed-hash.ts";
import { clickIdParts } from "../../../schemas/ids/click-id.ts";
import { readWorkspaceId, textAt } from "../rows/read-line.ts";
import { ALL_PERSONAL, withoutColumns } from "./erased-line.ts";

const ID_LENGTH = 32;
/** Addresses within a text, in the forms whose hashes an erasure keeps. In a URL a colon may be percent-encoded. */
const ADDRESS = /\d{1,3}(?:\.\d{1,3}){3}|[\da-f]{0,4}(?::[\da-f]{0,4}){2,7}/g;
const ENCODED_COLON = /%3a/gi;
/** A truncated address stands for many visitors: it is cleared in the column `ip` only. */
const TRUNCATED = /(\.0|::)$/;
const TEXTS = ["destination", "referrer", "extra"] as const;
/** Cached hashes of recently compared addresses. */
const HASHES_MAX = 10_000;

/** A click that a workspace has erased. Clicks of other workspaces with this ID stay, because anybody may name them. */
export type ErasedClick = { readonly id: string; readonly workspaceId: number };

/** An erased address of a workspace: it is cleared in clicks up to `atMs`. */
export type ErasedAddress = {
  readonly id: number;
  readonly workspaceId: number;
  /** UTC ms. */
  readonly atMs: number;
  /** Keyed hashes of the forms of the address. */
  readonly hashes: readonly string[];
};

/**
 * Erased data (G207) that may still arrive, from a journal or from a repeated read of the stream. Costs little for clicks that are
 * newer than every erasure, which is the normal case.
 */
export class ErasedClicks {
  /** `<click ID> <workspace ID>`. */
  readonly #clicks = new Set<string>();
  readonly #addressIds = new Set<number>();
  /**
   * By workspace and hash of an address: its clicks up to this time are cleared, UTC ms. The cost per click does not depend on the number
   * of addresses.
   */
  readonly #erasedToMs = new Map<number, Map<string, number>>();
  readonly #hashes = new Map<string, string>();
  #key = "";
  #newestMs = 0;

  get size(): number {
    return this.#clicks.size + this.#addressIds.size;
  }

  /** `key` is the key of the hashes. Returns the entries that are new. */
  add(
    erased: {
      readonly clicks: readonly ErasedClick[];
      readonly addresses: readonly ErasedAddress[];
    },
    key: string,
  ): { readonly clicks: readonly ErasedClick[]; readonly addresses: readonly ErasedAddress[] } {
    this.#key = key;
    const clicks = erased.clicks.filter((click) => !this.#clicks.has(keyOf(click)));
    const addresses = erased.addresses.filter(({ id }) => !this.#addressIds.has(id));
    for (const click of clicks) {
      this.#clicks.add(keyOf(click));
      this.#newestMs = Math.max(this.#newestMs, clickIdParts(click.id).atMs);
    }
    for (const { id, workspaceId, atMs, hashes } of addresses) {
      this.#addressIds.add(id);
      const erasedToMs = this.#erasedToMs.get(workspaceId) ?? new Map<string, number>();
      this.#erasedToMs.set(workspaceId, erasedToMs);
      for (const hash of hashes) erasedToMs.set(hash, Math.max(atMs, erasedToMs.get(hash) ?? 0));
      this.#newestMs = Math.max(this.#newestMs, atMs);
    }
    return { clicks, addresses };
  }

  /** The line of a click at `ts`, as latin1, without erased data: the same text or a shorter one. */
  clean(line: string, ts: number): string {
    if (ts > this.#newestMs) return line;
    if (this.#clicks.size > 0) {
      const id = textOf(line, "click_id");
      const isErased =
        id.length === ID_LENGTH &&
        this.#clicks.has(keyOf({ id, workspaceId: readWorkspaceId(line) }));
      if (isErased) return withoutColumns(line, ALL_PERSONAL);
    }
    return this.#addressIds.size === 0 ? line : this.#withoutAddresses(line, ts);
  }

  #withoutAddresses(line: string, ts: number): string {
    const erasedToMs = this.#erasedToMs.get(readWorkspaceId(line));
    if (erasedToMs === undefined) return line;
    const isErased = (address: string): boolean =>
      (erasedToMs.get(this.#hashOf(address)) ?? 0) >= ts;
    const ip = textOf(line, "ip");
    const clean = ip !== "" && isErased(ip) ? withoutColumns(line, ["ip"]) : line;
    const isInText = TEXTS.some((name) => addressesIn(textOf(clean, name)).some(isErased));
    return isInText ? withoutColumns(clean, TEXTS) : clean;
  }

  #hashOf(address: string): string {
    let hash = this.#hashes.get(address);
    if (hash === undefined) {
      hash = keyedHash(this.#key, address);
      if (this.#hashes.size >= HASHES_MAX) this.#hashes.clear();
      this.#hashes.set(address, hash);
    }
    return hash;
  }
}

function keyOf({ id, workspaceId }: ErasedClick): string {
  return `${id} ${workspaceId}`;
}

function addressesIn(text: string): string[] {
  const found = text.toLowerCase().replace(ENCODED_COLON, ":").match(ADDRESS) ?? [];
  return found.filter((address) => !TRUNCATED.test(address));
}

function textOf(line: string, field: string): string {
  const text = textAt(line, field);
  return text === undefined ? "" : line.slice(text.start, text.end);
}
