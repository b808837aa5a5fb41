import { Problem } from "../client/problem.ts";
import type { Membership } from "../member/membership.ts";

/** A record that the palette can open. */
export type Found = {
  /** What it is, such as "Offer". */
  readonly kind: string;
  readonly title: string;
  readonly detail: string;
  /** Below the address of the membership. */
  readonly path: string;
};

/** Something to do, other than opening a screen. */
export type PaletteAction = { readonly title: string; readonly path: string };

/** What the palette offers to one role, beside the screens in the navigation. */
export type RolePalette = {
  readonly actions: (membership: Membership) => readonly PaletteAction[];
  readonly find: (
    membership: Membership,
    text: string,
    signal: AbortSignal,
  ) => Promise<readonly Found[]>;
};

const CLICK = /^[0-9a-f]{32}$/i;
const CONVERSION = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const ID_LENGTH_MIN = 4;
const DAY_MS = 86_400_000;
/** Length of `2026-11-25`. */
const DAY_LENGTH = 10;

/** What a pasted text may be the name of. `id` may also be an order or an ad platform's click. */
export function kindOf(text: string): "click" | "conversion" | "id" | "words" {
  if (CLICK.test(text)) return "click";
  if (CONVERSION.test(text)) return "conversion";
  return text.length >= ID_LENGTH_MIN && !/\s/.test(text) ? "id" : "words";
}

/** Nothing for a text that names no record, or a record that this person may not see. */
export async function ifThere(asked: Promise<readonly Found[]>): Promise<readonly Found[]> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof Problem && (error.status === 404 || error.status === 400)) return [];
    throw error;
  }
}

/** The day so many days ago, as the API takes it. */
export function daysAgo(days: number, nowMs = Date.now()): string {
  return new Date(nowMs - days * DAY_MS).toISOString().slice(0, DAY_LENGTH);
}
