import { escapeMarkup } from "../../../schemas/macros/escape-markup.ts";
import { HIDDEN_FROM } from "../../access/visibility.ts";
import { asObject, asText, type Json } from "../../operation/json-object.ts";
import { inlineProse } from "./html.ts";

const DEPTH_MAX = 4;
const WORDS_SHOWN_MAX = 60;

/** The address of a named schema. */
export type SchemaLink = (name: string) => string | undefined;

/** One line of a list: a field of a body or a record, or a parameter. */
export type ListedField = {
  readonly name: string;
  readonly schema: Json;
  readonly isRequired: boolean;
};

type ListOptions = {
  readonly linkTo: SchemaLink;
  /** Beginning of the ids of the entries. */
  readonly idPrefix: string;
};

/** Fields with type and meaning. The fields of an object inside a field are folded under it. */
export function fieldList(fields: readonly ListedField[], options: ListOptions, depth = 0): string {
  const items = fields.map(({ name, schema, isRequired }) => {
    const inner = depth < DEPTH_MAX ? fieldsOf(objectIn(schema)) : [];
    const nested = { ...options, idPrefix: `${options.idPrefix}.${name}` };
    const text = meaningOf(schema);
    return `<li id="${escapeMarkup(nested.idPrefix)}"><code>${escapeMarkup(name)}</code><span class="type">${typeText(schema, options.linkTo)}</span>${isRequired ? '<span class="required">required</span>' : ""}${text}${
      inner.length === 0
        ? ""
        : `<details><summary>Fields of ${escapeMarkup(name)}</summary>${fieldList(inner, nested, depth + 1)}</details>`
    }</li>`;
  });
  return `<ul class="fields">${items.join("")}</ul>`;
}

export function fieldsOf(schema: Json): ListedField[] {
  const { required, properties } = schema;
  const needed = new Set<unknown>(Array.isArray(required) ? required : []);
  return Object.entries(asObject(properties)).map(([name, value]) => ({
    name,
    schema: asObject(value),
    isRequired: needed.has(name),
  }));
}

/** The object in a field: the field itself, one of its choices, or the items of a list. */
function objectIn(schema: Json): Json {
  if (schema["properties"] !== undefined) return schema;
  return (
    choicesOf(schema).find((one) => one["properties"] !== undefined) ?? asObject(schema["items"])
  );
}

function choicesOf(schema: Json): Json[] {
  const choices = schema["anyOf"] ?? schema["oneOf"];
  return Array.isArray(choices) ? choices.map(asObject) : [];
}

export function typeText(schema: Json, linkTo: SchemaLink): string {
  const { $ref, type, enum: words, const: only, items } = schema;
  if (typeof $ref === "string") {
    const name = $ref.slice($ref.lastIndexOf("/") + 1);
    const href = linkTo(name);
    const text = escapeMarkup(name);
    return href === undefined ? text : `<a href="${escapeMarkup(href)}">${text}</a>`;
  }
  if (only !== undefined) return `<code>${escapeMarkup(JSON.stringify(only))}</code>`;
  if (Array.isArray(words)) return "one of";
  const choices = choicesOf(schema);
  if (choices.length > 0)
    return [...new Set(choices.map((one) => typeText(one, linkTo)))].join(" or ");
  if (type === "array") {
    const item = asObject(items);
    return `list${item["enum"] === undefined ? " of" : ", each"} ${typeText(item, linkTo)}`;
  }
  const format = schema["format"];
  const name = Array.isArray(type) ? type.join(" or ") : asText(type ?? "any value");
  return escapeMarkup(typeof format === "string" ? `${name}, ${format}` : name);
}

/** The words of an enumeration, in the schema, its choices or its items. */
function wordsOf(schema: Json): readonly unknown[] {
  const { enum: words, items } = schema;
  if (Array.isArray(words)) return words;
  const inner = [...choicesOf(schema), asObject(items)].map(({ enum: own }) => own);
  return inner.find((own) => Array.isArray(own)) ?? [];
}

/** Description, words, bounds, and the roles that do not get the field. */
function meaningOf(schema: Json): string {
  const { description, default: fallback, examples } = schema;
  const words = wordsOf(schema);
  const parts: string[] = [];
  if (typeof description === "string") parts.push(`<p>${inlineProse(description)}</p>`);
  if (words.length > 0) parts.push(`<p>${wordsText(words)}</p>`);
  const bounds = BOUNDS.flatMap(([name, word]) => {
    const { [name]: bound } = schema;
    const isShown = typeof bound === "number" && Math.abs(bound) < Number.MAX_SAFE_INTEGER;
    return isShown && bound !== 2 ** 31 - 1 ? [`${word} ${bound}`] : [];
  });
  if (fallback !== undefined)
    bounds.push(`default <code>${escapeMarkup(JSON.stringify(fallback))}</code>`);
  if (Array.isArray(examples) && examples.length > 0)
    bounds.push(`such as <code>${escapeMarkup(String(examples[0]))}</code>`);
  const { [HIDDEN_FROM]: hidden } = schema;
  if (Array.isArray(hidden))
    bounds.push(`not in answers to ${escapeMarkup(hidden.join(", "))} keys`);
  if (bounds.length > 0) parts.push(`<p class="bounds">${bounds.join("; ")}</p>`);
  return parts.join("");
}

function wordsText(words: readonly unknown[]): string {
  const shown = words
    .slice(0, WORDS_SHOWN_MAX)
    .map((word) => `<code>${escapeMarkup(String(word))}</code>`);
  return shown.join(" ") + (words.length > shown.length ? " …" : "");
}

const BOUNDS = [
  ["minimum", "from"],
  ["exclusiveMinimum", "greater than"],
  ["maximum", "to"],
  ["minLength", "characters from"],
  ["maxLength", "characters up to"],
  ["minItems", "items from"],
  ["maxItems", "items up to"],
] as const;
