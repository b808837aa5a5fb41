import { randomInt } from "node:crypto";
import { isCode } from "../../schemas/catalog/code-form.ts";

/** Without 0, O, 1 and I, which people confuse (G24). */
const LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ";
const ALPHABET = `${LETTERS}23456789`;
const CODE_CHARACTERS = 8;
const CODE_TRIES_MAX = 5;

/** A code for an offer or a partner: 8 characters. The first is a letter, so that a code is never mistaken for an id. */
export function mintCode(): string {
  const rest = Array.from(
    { length: CODE_CHARACTERS - 1 },
    () => ALPHABET[randomInt(ALPHABET.length)],
  );
  return `${LETTERS[randomInt(LETTERS.length)] ?? ""}${rest.join("")}`;
}

/** Repeats an insert, which generates a new code each time, while `isTaken` says that another record has its code. */
export async function tryCodes<T>(
  insert: () => Promise<T>,
  isTaken: (error: unknown) => boolean,
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await insert();
    } catch (error) {
      if (tries === CODE_TRIES_MAX || !isTaken(error)) throw error;
    }
  }
}

/** A reference to an offer or an affiliate in a path: an id, tried first, or a code (G25). */
export type Reference = { readonly id: number; readonly code: string };

const DIGITS = /^[1-9]\d{0,9}$/;
const ID_MAX = 2_147_483_647;

/** Undefined if the text can be neither. `id` is 0 if the text is not an id. */
export function parseReference(text: string): Reference | undefined {
  if (!isCode(text)) return undefined;
  const id = DIGITS.test(text) ? Number(text) : 0;
  return { id: id <= ID_MAX ? id : 0, code: text };
}

/** A pattern for `ilike` in which `%`, `_` and `\` mean themselves (T72). */
export function likePattern(text: string): string {
  return `%${text.replace(/[\\%_]/g, "\\$&")}%`;
}
