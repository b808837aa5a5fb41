import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { z } from "zod";
import { ApiError } from "./errors.ts";
import { type Principal, scopeOf } from "./principal.ts";

/**
 * The position that a page continues from: `at` is the sort key of the last row in the form that the list reads back, `id` breaks
 * ties.
 */
export type Position = { readonly at: string; readonly id: string };

/** The range of the first page, fixed so that a moving "now" does not change it (G33). */
export type CursorRange = { readonly fromMs: number; readonly toMs: number; readonly tz: string };

/** What a cursor is bound to. */
export type CursorBinding = {
  /** Name of the list, which is its operation's name. */
  readonly list: string;
  readonly principal: Principal;
  /** The parsed query. `limit` and `cursor` are not part of the binding. */
  readonly query: Readonly<Record<string, unknown>>;
};

export type OpenedCursor = { readonly position: Position; readonly range: CursorRange | undefined };

/** list, workspace, scope, filter hash, sort key, id, range. */
const Payload = z.tuple([
  z.string(),
  z.number(),
  z.string(),
  z.string(),
  z.string(),
  z.string(),
  z.tuple([z.number(), z.number(), z.string()]).nullable(),
]);

/** A multiple of three, so that base64 has no spare bits and a cursor has only one spelling. */
const MAC_BYTES = 18;
const CURSOR_CHARACTERS_MAX = 2_048;
const FORM = /^([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]{24})$/;

/** Signs and reads cursors. A cursor is opaque, URL-safe and valid for one list, scope and set of filters (G33). */
export class Cursors {
  readonly #key: Buffer;

  /** `secret` is the installation's, so every api process reads the cursors of the others. */
  constructor(secret: string) {
    this.#key = createHmac("sha256", secret).update("cursor").digest();
  }

  write(binding: CursorBinding, position: Position, range?: CursorRange): string {
    const payload: z.infer<typeof Payload> = [
      binding.list,
      binding.principal.workspace.id,
      scopeOf(binding.principal),
      hashOfFilters(binding.query),
      position.at,
      position.id,
      range === undefined ? null : [range.fromMs, range.toMs, range.tz],
    ];
    const text = Buffer.from(JSON.stringify(payload)).toString("base64url");
    return `${text}.${this.#mac(text).toString("base64url")}`;
  }

  /** Undefined without a cursor. @throws {ApiError} `invalid_cursor` if it belongs to another list, scope or set of filters. */
  read(binding: CursorBinding, cursor: string | undefined): OpenedCursor | undefined {
    if (cursor === undefined) return undefined;
    const [list, workspaceId, scope, filters, at, id, range] = this.#open(cursor);
    const isOurs =
      list === binding.list &&
      workspaceId === binding.principal.workspace.id &&
      scope === scopeOf(binding.principal) &&
      filters === hashOfFilters(binding.query);
    if (!isOurs) throw invalid();
    const [fromMs, toMs, tz] = range ?? [];
    return {
      position: { at, id },
      range:
        fromMs === undefined || toMs === undefined || tz === undefined
          ? undefined
          : { fromMs, toMs, tz },
    };
  }

  #open(cursor: string): z.infer<typeof Payload> {
    const [, text = "", mac = ""] =
      cursor.length > CURSOR_CHARACTERS_MAX ? [] : (FORM.exec(cursor) ?? []);
    const given = Buffer.from(mac, "base64url");
    if (given.length !== MAC_BYTES || !timingSafeEqual(given, this.#mac(text))) throw invalid();
    // The MAC proves that we wrote it. Another release may have used another format.
    // oxlint-disable-next-line eslint/no-restricted-properties -- see above
    const payload = Payload.safeParse(JSON.parse(Buffer.from(text, "base64url").toString("utf8")));
    if (!payload.success) throw invalid();
    return payload.data;
  }

  #mac(text: string): Buffer {
    return createHmac("sha256", this.#key).update(text).digest().subarray(0, MAC_BYTES);
  }
}

function invalid(): ApiError {
  return new ApiError(
    "invalid_cursor",
    "the cursor does not belong to this list with these filters",
    {
      details: { param: "cursor" },
    },
  );
}

function hashOfFilters(query: Readonly<Record<string, unknown>>): string {
  const filters = Object.entries(query)
    .filter(([name, value]) => name !== "limit" && name !== "cursor" && value !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash("sha256").update(JSON.stringify(filters)).digest("base64url").slice(0, 16);
}
