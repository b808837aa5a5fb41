import { CATALOG_NOTES } from "./catalog-notes.ts";
import { CONSOLE_NOTES } from "./console-notes.ts";
import { IMPORT_NOTES } from "./import-notes.ts";
import { INVOICE_NOTES } from "./invoice-notes.ts";
import { LEDGER_NOTES } from "./ledger-notes.ts";
import { PAYOUT_NOTES } from "./payout-notes.ts";
import { PEOPLE_NOTES } from "./people-notes.ts";
import { SETUP_NOTES } from "./setup-notes.ts";
import { STATEMENT_NOTES } from "./statement-notes.ts";
import { TRAFFIC_NOTES } from "./traffic-notes.ts";
import { UPDATE_NOTES } from "./update-notes.ts";

/*
 * What fields mean, for the OpenAPI document and the MCP tools. A name means the same in every resource, so each is described once,
 * here: `name`, or `Resource.name` where one resource differs, or `parent.name` inside another field, or `?name` for a query
 * parameter. A schema's own description takes precedence over all of them.
 */

export const FIELD_NOTES: ReadonlyMap<string, string> = new Map(
  [
    CATALOG_NOTES,
    TRAFFIC_NOTES,
    SETUP_NOTES,
    CONSOLE_NOTES,
    PEOPLE_NOTES,
    IMPORT_NOTES,
    INVOICE_NOTES,
    LEDGER_NOTES,
    UPDATE_NOTES,
    PAYOUT_NOTES,
    STATEMENT_NOTES,
  ].flatMap((notes) => Object.entries(notes)),
);

/** Where a field occurs: the names of its operation and of the records that contain it, and the name of the enclosing field. */
export type FieldContext = {
  readonly owners: readonly string[];
  readonly parent: string | undefined;
};

/** The note on a field, the most specific first; undefined if there is none. */
export function fieldNote(name: string, { owners, parent }: FieldContext): string | undefined {
  const path = parent === undefined ? name : `${parent}.${name}`;
  const keys = [...owners.map((owner) => `${owner}.${path}`), path, name];
  return keys.map((key) => FIELD_NOTES.get(key)).find((note) => note !== undefined);
}
