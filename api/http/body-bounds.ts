import { randomInt } from "node:crypto";
import { z } from "zod";
import type { JsonBounds } from "../../schemas/json/json-bounds.ts";
import { NameFilter } from "../../schemas/json/name-filter.ts";

/** Values beyond a right body, so that faults can be named instead of the size. */
const SPARE = 500;
/** Fields of an object whose names the caller chooses, and entries of a list without a maximum. */
const UNBOUNDED = 250;
const VALUES_MAX = 120_000;
const UNKNOWN_FIELDS_MAX = 100;
const FREE_FIELDS_MAX = 500;
/** For a body that nobody reads. */
const UNREAD: JsonBounds = { values: SPARE };
const SEED_MAX = 2 ** 31;

type Described = z.core.JSONSchema.BaseSchema;
/** `freeFields`: fields whose names the caller chooses. */
type Size = { readonly values: number; readonly freeFields: number };

/** What a right body of an operation can have at most, as far as its schema says. */
export function bodyBounds(body: z.ZodType | undefined): JsonBounds {
  if (body === undefined) return UNREAD;
  const described = z.toJSONSchema(body, {
    io: "input",
    unrepresentable: "any",
    reused: "inline",
  });
  const names = new Set<string>();
  const { values, freeFields } = sizeOf(described, names);
  return {
    values: Math.min(values + SPARE, VALUES_MAX),
    fields: {
      names: new NameFilter(names, randomInt(SEED_MAX)),
      othersMax: UNKNOWN_FIELDS_MAX + Math.min(freeFields, FREE_FIELDS_MAX),
    },
  };
}

/** Adds the names of fields to `names`. */
function sizeOf(described: Described | boolean, names: Set<string>): Size {
  if (typeof described === "boolean") return { values: 1, freeFields: 0 };
  const { anyOf = [], properties = {}, items, maxItems = UNBOUNDED } = described;
  for (const name of Object.keys(properties)) names.add(name);
  const parts = [...Object.values(properties), ...anyOf].map((part) => sizeOf(part, names));
  if (items !== undefined && !Array.isArray(items))
    parts.push(times(maxItems, sizeOf(items, names)));
  parts.push(otherFields(described, names));
  return {
    values: 1 + sum(parts.map(({ values }) => values)),
    freeFields: sum(parts.map(({ freeFields }) => freeFields)),
  };
}

/** Fields that are not among the `properties` of an object. */
function otherFields(
  { type, additionalProperties = true, propertyNames }: Described,
  names: Set<string>,
): Size {
  if (type !== "object" || additionalProperties === false) return { values: 0, freeFields: 0 };
  const field = sizeOf(additionalProperties, names);
  const known = typeof propertyNames === "object" ? propertyNames.enum : undefined;
  if (known === undefined) return { ...times(UNBOUNDED, field), freeFields: UNBOUNDED };
  for (const name of known) names.add(String(name));
  return times(known.length, field);
}

function times(count: number, { values, freeFields }: Size): Size {
  return { values: count * values, freeFields: count * freeFields };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
