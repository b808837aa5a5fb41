import { z } from "zod";
import { formatAmount, parseAmount } from "../../schemas/money/amount.ts";
import { isCurrency } from "../../schemas/money/currencies.ts";
import { punycodeHost } from "../../schemas/net/punycode-host.ts";
import { listOf } from "./bounded-list.ts";
import { isCountry } from "./iso-codes.ts";

/*
 * Fields of request bodies. The caller reads a message next to the name of its field, so it says what is expected.
 * G59 has the lengths.
 */

const NAME_MAX = 200;
const TEXT_MAX = 500;
const LONG_TEXT_MAX = 10_000;
const URL_MAX = 2_048;
const TAGS_MAX = 50;
const TAG_MAX = 50;
const WORDS_MAX = 1_000;
const ID_MAX = 2_147_483_647;

const MONEY = /^\d{1,14}(\.\d{1,4})?$/;
const EMAIL = /^[^\s@"<>,;]{1,64}@[^\s@"<>,;.]+(\.[^\s@"<>,;.]+)+$/;
/** The form of a code of ISO 4217. */
const CURRENCY = /^[A-Z]{3}$/;
const MACRO = /\{(?:[A-Za-z0-9_]+|param:[A-Za-z0-9_.-]+)\}/g;
const LONE_SURROGATE = /\p{Surrogate}/u;

/** Text that Postgres can store, with a maximum length. Nothing else is checked of a longer text, because that could take long. */
export function text(max = TEXT_MAX): z.ZodString {
  return z
    .string("expected text")
    .max(max, { error: `expected at most ${max} characters`, abort: true })
    .refine((value) => isStorable(value), "contains a character that is not allowed");
}

/** Postgres can store neither NUL nor half of a surrogate pair. */
export function isStorable(value: string): boolean {
  return !value.includes("\0") && !LONE_SURROGATE.test(value);
}

export function longText(): z.ZodString {
  return text(LONG_TEXT_MAX);
}

/** A name that is not only spaces. */
export function name(): z.ZodString {
  return text(NAME_MAX).refine((value) => value.trim() !== "", "expected a name");
}

/** A decimal string; answers have four decimals (ENV-006, G22). */
export const money = z
  .string('expected a decimal string such as "12.50"')
  .regex(MONEY, "expected a plain decimal with at most 14 digits before the point and 4 after it")
  .transform((value) => formatAmount(parseAmount(value) ?? 0n))
  .meta({ format: "decimal", examples: ["12.50"] });

/** Money in answers. */
export const shownMoney = z
  .string()
  .regex(/^-?\d+\.\d{4}$/)
  .meta({ examples: ["12.5000"] });

/** Currencies in answers. */
export const shownCurrency = z
  .string()
  .regex(CURRENCY)
  .meta({ examples: ["USD"] });

/** Calendar days in answers. */
export const shownDay = z.iso.date().meta({ examples: ["2025-01-31"] });

/** Times in answers. */
export const shownTime = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/)
  .meta({ format: "date-time", examples: ["2025-01-31T10:00:00.000Z"] });

/** Answer of a DELETE. */
export const deletedRecord = z
  .strictObject({ id: z.int(), deleted: z.literal(true) })
  .meta({ id: "Deleted" });

export const currency = z
  .string("expected a currency code")
  .refine(isCurrency, "expected an ISO 4217 code such as USD")
  .meta({ pattern: CURRENCY.source, examples: ["USD"] });

export const country = z
  .string("expected a country code")
  .refine(isCountry, "expected an ISO 3166 alpha-2 code such as DE")
  .meta({ pattern: "^[A-Z]{2}$", examples: ["DE"] });

/** "" or a value of `schema`. */
export function orEmpty(schema: z.ZodType<string, string>): z.ZodType<string, string> {
  return z.string("expected text").transform((value, context): string => {
    if (value === "") return value;
    const parsed = schema.safeParse(value);
    if (parsed.success) return parsed.data;
    context.addIssue(parsed.error.issues[0]?.message ?? "not valid");
    return z.NEVER;
  });
}

export const email = text(254).regex(EMAIL, "expected an e-mail address");

/** An absolute http or https URL, which may contain macros such as {click_id} anywhere. A host in another script is kept in punycode (G246). */
export const targetUrl = text(URL_MAX)
  .refine(isTargetUrl, "expected an absolute http or https URL")
  .transform(punycodeHost)
  .meta({ examples: ["https://shop.example/landing?cid={click_id}"] });

/** A {@link targetUrl} that the service itself requests: it sends no user name and no password (G226). */
export const calledUrl = targetUrl.refine(
  hasNoCredentials,
  "must not have a user name or a password",
);

/** True for what is no URL: another message says so. */
function hasNoCredentials(value: string): boolean {
  const plain = value.replace(MACRO, "x");
  if (!URL.canParse(plain)) return true;
  const { username, password } = new URL(plain);
  return username === "" && password === "";
}

function isTargetUrl(value: string): boolean {
  const plain = value.replace(MACRO, "x");
  if (/\s/.test(plain) || !/^https?:\/\/[^/\\]/i.test(plain) || !URL.canParse(plain)) return false;
  return new URL(plain).hostname !== "";
}

export function oneOf<const Words extends readonly [string, ...string[]]>(
  ...allowed: Words
): z.ZodEnum<{ [Word in Words[number]]: Word }> {
  return z.enum(allowed, `expected one of ${allowed.join(", ")}`);
}

export const flag = z.boolean("expected true or false");

const NO_ID = "expected an id, as a number";
export const recordId = z.int(NO_ID).positive(NO_ID).max(ID_MAX, NO_ID);

export function count(bounds: { min: number; max: number }): z.ZodType<number, number> {
  const message = `expected a whole number from ${bounds.min} to ${bounds.max}`;
  return z.int(message).min(bounds.min, message).max(bounds.max, message);
}

export const tags = listOf(text(TAG_MAX).min(1, "expected a word"), {
  expected: "expected a list of words",
  max: TAGS_MAX,
  tooMany: `expected at most ${TAGS_MAX} tags`,
});

/** A list of words, each of at most `max` characters. */
export function words(max: number): z.ZodArray<z.ZodString> {
  return listOf(text(max).min(1, "expected a word"), {
    expected: "expected a list of words",
    max: WORDS_MAX,
    tooMany: `expected at most ${WORDS_MAX} words`,
  });
}
