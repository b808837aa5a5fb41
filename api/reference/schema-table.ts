import { escapeMarkup } from "../../schemas/macros/escape-markup.ts";
import { HIDDEN_FROM } from "../access/visibility.ts";
import { asObject, asText, type Json } from "../rest/openapi-schemas.ts";
import { inlineProse } from "./html.ts";

const DEPTH_MAX = 4;
const WORDS_SHOWN_MAX = 60;

/** The fields of a schema as a table. Nested fields have the name of their parent as a prefix. Named schemas are links. */
export function schemaTable(schema: Json): string {
  const rows = rowsOf(schema, "", 0);
  if (rows.length === 0) return `<p>${typeText(schema)}</p>`;
  return `<table><tr><th>Field</th><th>Type</th><th>Meaning</th></tr>${rows.join("")}</table>`;
}

function rowsOf(schema: Json, prefix: string, depth: number): string[] {
  const required: unknown = schema["required"];
  const needed = new Set<unknown>(Array.isArray(required) ? required : []);
  return Object.entries(asObject(schema["properties"])).flatMap(([name, value]) => {
    const property = asObject(value);
    const row = `<tr><td><code>${escapeMarkup(prefix + name)}</code>${needed.has(name) ? " *" : ""}</td>
      <td>${typeText(property)}</td><td>${meaningOf(property)}</td></tr>`;
    const { object, suffix } = objectIn(property);
    const isWhole = object === undefined || depth >= DEPTH_MAX;
    return [row, ...(isWhole ? [] : rowsOf(object, `${prefix}${name}${suffix}.`, depth + 1))];
  });
}

/** The object in a property: the property itself, one of its choices, or the items of a list. */
function objectIn(property: Json): { object: Json | undefined; suffix: string } {
  const { properties, items } = property;
  if (properties !== undefined) return { object: property, suffix: "" };
  const choice = choicesOf(property).find((one) => one["properties"] !== undefined);
  if (choice !== undefined) return { object: choice, suffix: "" };
  const item = asObject(items);
  return { object: item["properties"] === undefined ? undefined : item, suffix: "[]" };
}

function choicesOf(schema: Json): Json[] {
  const choices = schema["anyOf"] ?? schema["oneOf"];
  return Array.isArray(choices) ? choices.map(asObject) : [];
}

export function typeText(schema: Json): string {
  const { $ref, type, enum: words, const: only, items } = schema;
  if (typeof $ref === "string") {
    const name = escapeMarkup($ref.slice($ref.lastIndexOf("/") + 1));
    return `<a href="#schema-${name}">${name}</a>`;
  }
  if (only !== undefined) return `<code>${escapeMarkup(JSON.stringify(only))}</code>`;
  if (Array.isArray(words)) return wordsText(words);
  const choices = choicesOf(schema);
  if (choices.length > 0) return choices.map(typeText).join(" or ");
  if (type === "array") return `list of ${typeText(asObject(items))}`;
  const format = schema["format"];
  const name = Array.isArray(type) ? type.join(" or ") : asText(type ?? "any value");
  return escapeMarkup(typeof format === "string" ? `${name}, ${format}` : name);
}

function wordsText(words: readonly unknown[]): string {
  const shown = words
    .slice(0, WORDS_SHOWN_MAX)
    .map((word) => `<code>${escapeMarkup(String(word))}</code>`);
  return shown.join(" ") + (words.length > shown.length ? " …" : "");
}

/** Description, bounds, example, and the roles that do not get the field. */
export function meaningOf(schema: Json): string {
  const parts: string[] = [];
  const { description, default: fallback, examples } = schema;
  const hidden = schema[HIDDEN_FROM];
  if (typeof description === "string") parts.push(inlineProse(description));
  for (const [name, word] of BOUNDS) {
    const bound = schema[name];
    if (typeof bound === "number" && Math.abs(bound) < Number.MAX_SAFE_INTEGER)
      parts.push(`${word} ${bound}`);
  }
  if (fallback !== undefined)
    parts.push(`default <code>${escapeMarkup(JSON.stringify(fallback))}</code>`);
  if (Array.isArray(examples) && examples.length > 0)
    parts.push(`such as <code>${escapeMarkup(String(examples[0]))}</code>`);
  if (Array.isArray(hidden))
    parts.push(`not in answers to ${escapeMarkup(hidden.join(", "))} keys`);
  return parts.join("; ");
}

const BOUNDS = [
  ["minimum", "from"],
  ["maximum", "to"],
  ["minLength", "characters from"],
  ["maxLength", "characters up to"],
  ["minItems", "items from"],
  ["maxItems", "items up to"],
] as const;
