import { API_ERRORS } from "../../operation/errors.ts";
import { asObject, asText, type Json } from "../../operation/json-object.ts";
import { bodiesOf, type DescribedOperation, parametersIn } from "./described-operation.ts";
import { fieldsOf } from "./field-list.ts";

/** What the search box finds: an address, a title, the place it belongs to, and further text. */
export type SearchEntry = readonly [href: string, title: string, place: string, text: string];

export type SearchedPage = {
  readonly path: string;
  readonly title: string;
  readonly operations: readonly DescribedOperation[];
  /** The named schemas that the page describes. */
  readonly schemas: readonly (readonly [name: string, schema: Json])[];
};

/** The entries of all pages: operations first, then fields of records, bodies and queries, then error codes. */
export function searchIndex(pages: readonly SearchedPage[], errorsPath: string): SearchEntry[] {
  const operations = pages.flatMap(({ path, title, operations: listed }) =>
    listed.map(
      ({ id, name, method, path: at }): SearchEntry => [
        `${path}#${id}`,
        name,
        title,
        `${method} ${at} ${id}`,
      ],
    ),
  );
  const errors = Object.entries(API_ERRORS).map(
    ([code, { status, meaning }]): SearchEntry => [
      `${errorsPath}#${code}`,
      code,
      `Error ${status}`,
      plain(meaning),
    ],
  );
  return [...operations, ...pages.flatMap(fieldEntries), ...errors];
}

/** Each field of a page once: as a field of its record, else of the first call that takes it. */
function fieldEntries({ path, title, operations, schemas }: SearchedPage): SearchEntry[] {
  const records = schemas.flatMap(([owner, schema]) =>
    fieldsOf(schema).map(({ name, schema: field }) => ({
      name,
      field,
      id: `schema-${owner}.${name}`,
    })),
  );
  const sent = operations.flatMap((operation) =>
    [
      ...fieldsOf(asObject(asObject(bodiesOf(operation)["application/json"])["schema"])),
      ...parametersIn(operation, "query").map((one) => ({
        name: asText(one["name"]),
        schema: one,
      })),
    ].map(({ name, schema }) => ({ name, field: schema, id: `${operation.id}.${name}` })),
  );
  const byName = new Map<string, SearchEntry>();
  for (const { name, field, id } of [...records, ...sent]) {
    if (byName.has(name)) continue;
    byName.set(name, [
      `${path}#${id}`,
      name,
      `${title} · field`,
      plain(asText(field["description"])),
    ]);
  }
  return [...byName.values()];
}

const TEXT_CHARACTERS_MAX = 110;

function plain(text: string): string {
  const line = text.replaceAll("`", "").split("\n", 1)[0] ?? "";
  return line.length <= TEXT_CHARACTERS_MAX ? line : `${line.slice(0, TEXT_CHARACTERS_MAX - 1)}…`;
}
