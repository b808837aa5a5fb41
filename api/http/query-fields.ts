import { z } from "zod";
import { parseDay } from "../../schemas/time/calendar.ts";
import { PRESETS } from "../../schemas/time/presets.ts";
import { currency, isStorable, shownTime } from "../fields/body-fields.ts";
import { sentAs } from "../operation/parameters.ts";

/*
 * Query parameters: text in, values out. The caller reads a message next to the name of its parameter.
 */

const TEXT_MAX = 500;
const IDS_MAX = 500;
const ID_MAX = 2_147_483_647;

/** `limit` of a list. Values beyond either bound are refused (G16). */
export function limitParam(fallback: number, max: number): z.ZodType<number, string | undefined> {
  const message = `expected a whole number from 1 to ${max}`;
  const read = z
    .string()
    .regex(/^\d{1,9}$/, message)
    .transform(Number)
    .refine((value) => value >= 1 && value <= max, message)
    .default(fallback);
  return sentAs(read, wholeNumber({ min: 1, max, fallback }));
}

/** How a number is described: with its bounds and its value when it is left out. */
export function wholeNumber({
  min,
  max,
  fallback,
}: {
  readonly min: number;
  readonly max: number;
  readonly fallback: number;
}): z.ZodType {
  return z
    .int()
    .min(min)
    .max(max)
    .meta({ description: `${min} to ${max}, default ${fallback}`, default: fallback });
}

export const cursorParam = z
  .string()
  .optional()
  .meta({ description: "`next_cursor` of the previous page, with the same filters" });

/** The two parameters of every cursor-paged list: default 50 rows a page, at most 200. */
export const pageParams = { limit: limitParam(50, 200), cursor: cursorParam };

/**
 * The same parameters of a list that has all its records on one page. They change nothing: many clients page every list alike (G250).
 */
export const unpagedParams = {
  limit: sentAs(
    z
      .string()
      .regex(/^[1-9]\d{0,8}$/, "expected a whole number from 1")
      .optional(),
    z.int().min(1),
  ).meta({ description: "Changes nothing: all records are on one page" }),
  cursor: z.string().optional().meta({ description: "Changes nothing: there is one page" }),
};

const moment = z.union([
  z.string().meta({ format: "date" }),
  z.string().meta({ format: "date-time" }),
]);

/** `preset`, `from`, `to` and `tz`, for `resolveRange`. */
export const rangeParams = {
  from: sentAs(z.string().optional(), moment).meta({
    description: "Date or date-time, from 1970 to 2099; a date is local midnight in `tz`",
  }),
  to: sentAs(z.string().optional(), moment).meta({
    description: "Date (that whole day) or date-time; default now",
  }),
  tz: z
    .string()
    .optional()
    .meta({ description: "IANA time zone, default the workspace's", examples: ["Europe/Berlin"] }),
  preset: sentAs(z.string().optional(), z.enum(PRESETS).meta({ id: "Preset" })).meta({
    description: "Named range of whole days; `from` and `to` take precedence",
  }),
};

const shownId = z.int().min(1).max(ID_MAX);

export const idParam = sentAs(
  z
    .string()
    .regex(/^[1-9]\d{0,9}$/, "expected an id")
    .transform(Number)
    .refine((id) => id <= ID_MAX, "expected an id")
    .optional(),
  shownId,
);

/** A calendar day without a time zone. */
export const dayParam = z
  .string()
  .refine((text) => parseDay(text) !== undefined, "expected a date such as 2025-01-31")
  .meta({ format: "date" })
  .optional();

/** How a click id in a path or query is described. */
export const shownClickId = z.string().regex(/^[0-9a-fA-F]{32}$/);

/** Click ids in any case, converted to lower case. */
export const clickIdParam = z
  .string()
  .regex(/^[0-9a-fA-F]{32}$/, "expected 32 hex characters")
  .transform((id) => id.toLowerCase())
  .optional();

/** Conversion ids in any case, converted to lower case (G95). */
export const uuidParam = sentAs(
  z
    .string()
    .regex(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i, "expected a UUID")
    .transform((id) => id.toLowerCase())
    .optional(),
  z.string().meta({ format: "uuid" }),
);

/** Comma-separated ids. */
export const idsParam = sentAs(
  z
    .string()
    .regex(/^[1-9]\d{0,9}(,[1-9]\d{0,9})*$/, "expected ids separated by commas")
    .transform((text) => [...new Set(text.split(",").map(Number))])
    .refine(
      (ids) => ids.length <= IDS_MAX && ids.every((id) => id <= ID_MAX),
      `expected at most ${IDS_MAX} ids`,
    )
    .optional(),
  // Repeated ids count once, so no number of items is too large.
  z.array(shownId).min(1),
);

export const textParam = z
  .string()
  .max(TEXT_MAX, `expected at most ${TEXT_MAX} characters`)
  .refine(isStorable, "contains a character that is not allowed")
  .optional();

/** A code of ISO 4217. Any other would match nothing, which looks like "no data". */
export const currencyParam = currency.optional();

export const booleanParam = sentAs(
  z
    .enum(["true", "false"], "expected true or false")
    .transform((value) => value === "true")
    .optional(),
  z.boolean(),
);

export function wordParam<const Words extends readonly [string, ...string[]]>(
  ...words: Words
): z.ZodOptional<z.ZodEnum<{ [Word in Words[number]]: Word }>> {
  return z.enum(words, `expected one of ${words.join(", ")}`).optional();
}

/** With `format=csv` (G252). */
export const bomParam = wordParam("0", "1").meta({
  description:
    "With `format=csv`: `1` begins the file with a byte order mark, from which spreadsheets know that it is UTF-8",
});

/** `format` of a list. */
export const listFormatParam = wordParam("json", "csv").meta({
  description: "`csv`: up to 200000 rows with a header of field names; `limit` does not apply",
});

/** The range that an answer is about. */
export const rangeEcho = z.object({ from: shownTime, to: shownTime, tz: z.string() });
