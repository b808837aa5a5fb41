import { CATALOG_NOTES } from "./catalog-notes.ts";
import { SETUP_NOTES } from "./setup-notes.ts";
import { TRAFFIC_NOTES } from "./traffic-notes.ts";

/*
 * What fields mean, for the OpenAPI document and the tools of MCP. Names mean the same in every resource, so they are told
 * once, here: `name`, or `Resource.name` where one resource differs, or `parent.name` inside of another field, or `?name` of
 * a query. A schema's own description goes before all of them.
 */

export const FIELD_NOTES: ReadonlyMap<string, string> = new Map(
  [CATALOG_NOTES, TRAFFIC_NOTES, SETUP_NOTES].flatMap((notes) => Object.entries(notes)),
);

/** Where a field stands: the names of the operation and of the records that it is about, and of the field around it. */
export type FieldPlace = {
  readonly owners: readonly string[];
  readonly parent: string | undefined;
};

/** The note on a field, the most particular first; undefined where there is none. */
export function fieldNote(name: string, { owners, parent }: FieldPlace): string | undefined {
  const path = parent === undefined ? name : `${parent}.${name}`;
  const keys = [...owners.map((owner) => `${owner}.${path}`), path, name];
  return keys.map((key) => FIELD_NOTES.get(key)).find((note) => note !== undefined);
}
