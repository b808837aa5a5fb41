import { z } from "zod";
import { isStorable } from "../fields/body-fields.ts";

const CHARACTERS_MIN = 12;
const CHARACTERS_MAX = 128;
const DIFFERENT_MIN = 5;

/** Words that most of the common passwords of twelve characters and more are made of. */
const COMMON =
  /p[a@]ssw[o0]rd|letmein|welcome|iloveyou|qwerty|qwertz|azerty|asdfgh|zxcvbn|administrator|admin|superman|football|baseball|princess|sunshine|trustno1|dragon|monkey|changeme|secret|master|login|hello|abcdef|0123456789|123456789|12345678|1234567|123456|12345|987654321|87654321|654321/g;
/** What must be left of a password without such words. */
const LEFT_MIN = 6;

/** A new password. Nothing but its length and its guessability counts; paste is welcome. */
export const newPassword = z
  .string("expected a password")
  .refine((given) => given.length <= 2 * CHARACTERS_MAX && isOfLength(lengthOf(given)), {
    error: `expected ${CHARACTERS_MIN} to ${CHARACTERS_MAX} characters`,
    abort: true,
  })
  .refine(isStorable, "contains a character that is not allowed")
  .meta({ format: "password", examples: ["correct-horse-battery"] });

/** A password to be checked: as long as any can be. */
export const givenPassword = z
  .string("expected a password")
  .max(4 * CHARACTERS_MAX, "expected a password")
  .meta({ format: "password", examples: ["correct-horse-battery"] });

function isOfLength(characters: number): boolean {
  return characters >= CHARACTERS_MIN && characters <= CHARACTERS_MAX;
}

function lengthOf(text: string): number {
  return codesOf(text).length;
}

/** Why a password is easy to guess for this person; undefined if it is not. */
export function passwordFault(
  password: string,
  about: { readonly email: string; readonly name: string },
): string | undefined {
  const plain = password.toLowerCase().normalize("NFKC");
  const letters = new Set(plain);
  if (letters.size < DIFFERENT_MIN || isSequence(plain)) return "is too easy to guess";
  const [mailbox = ""] = about.email.toLowerCase().split("@", 1);
  const personal = [about.email, mailbox, ...about.name.split(/\s+/)]
    .map((word) => word.toLowerCase())
    .filter((word) => word.length >= 4);
  const rest = personal
    .reduce((left, word) => left.replaceAll(word, ""), plain)
    .replace(COMMON, "");
  const isGuessable = rest !== plain && new Set(rest).size < LEFT_MIN;
  return isGuessable ? "is made of words that are guessed first" : undefined;
}

function codesOf(text: string): number[] {
  return Array.from(text, (character) => character.codePointAt(0) ?? 0);
}

/** Each character follows the one before, as in "abcdefghijkl". */
function isSequence(text: string): boolean {
  const codes = codesOf(text);
  const steps = new Set(codes.slice(1).map((code, index) => code - (codes[index] ?? 0)));
  return steps.size === 1;
}
