import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import type { Queryable } from "../../../schemas/postgres/connect.ts";
import { inTransaction } from "../../../schemas/postgres/transaction.ts";
import { type References, referenceFaults } from "../../access/references.ts";
import { type Resource, shownSchema, showTo } from "../../access/visibility.ts";
import { bodyShape, type Fields, shownShape } from "../../fields/field.ts";
import { presentFields } from "../../http/patch.ts";
import { notFound } from "../../operation/errors.ts";
import {
  type FieldFaults,
  type Operation,
  type OperationAccess,
  type OperationContext,
  operation,
} from "../../operation/operation.ts";
import type { Body } from "../../records/managed-resource.ts";
import { type ManagedRow, ManagedTable } from "../../records/managed-table.ts";

/** Fields of a record that are read and changed separately, under `{path}/settings`. */
export type ManagedSettings = {
  readonly resource: Resource;
  /** Suffix of the names of its operations: `get` and `update` + this. */
  readonly name: string;
  /** The operation that answers the record. The settings use its path and its look-up. */
  readonly of: Operation;
  readonly table: string;
  /** Every field is a column. A record has its settings from the start, so `unset` has no effect. */
  readonly fields: Fields;
  /** Converts the columns for the answer, if the answer differs from them. */
  readonly present?: (row: Body) => Body;
  readonly read: OperationAccess;
  readonly write: OperationAccess;
  readonly references?: References;
  /** Checks a body beyond its schema; returns faults by field. */
  readonly check?: (context: OperationContext, body: Body) => FieldFaults;
  /** Fields of the body that are not columns but say how to make the change. */
  readonly bodyOnly?: z.ZodRawShape;
  /** Further changes that follow from a change, in its transaction, which has locked the record. */
  readonly afterUpdate?: (tx: Queryable, change: SettingsChange) => Promise<void>;
};

export type SettingsChange = {
  readonly id: number;
  readonly before: Body;
  readonly after: Body;
  readonly body: Body;
};

const Found = z.looseObject({ id: z.int() });

/** The two operations of such settings. */
export function manageSettings(settings: ManagedSettings): {
  readonly get: Operation;
  readonly update: Operation;
} {
  const { resource, name, of, present = (row) => row } = settings;
  const path = `${of.path}/settings`;
  const pathSchema = of.input.path ?? z.unknown();
  const table = new ManagedTable({
    table: settings.table,
    written: Object.keys(settings.fields),
    readOnly: ["id"],
  });
  const output = z.object({
    data: shownSchema(resource, shownShape(settings.fields)).meta({ id: name }),
  });
  const noun = resource.replaceAll("_", " ");
  const findResource = async (context: OperationContext, given: unknown): Promise<ManagedRow> => {
    const { id } = Found.parse(await of.findResource?.(context, given));
    const row = await table.find(context.db, context.workspace.id, id);
    if (row === undefined) throw notFound("record");
    return row;
  };
  const answer = ({ principal }: OperationContext, row: Body) => ({
    body: { data: showTo(principal.role, resource, present(row)) },
  });
  return {
    get: operation<z.ZodType, undefined, undefined, ManagedRow>({
      name: `get${name}`,
      method: "GET",
      path,
      tag: "Management",
      summary: `Get ${noun}`,
      access: settings.read,
      input: { path: pathSchema },
      output,
      status: 200,
      findResource,
      run: async (context, { resource: row }) => await Promise.resolve(answer(context, row)),
    }),
    update: operation<z.ZodType, undefined, z.ZodObject, ManagedRow>({
      name: `update${name}`,
      method: "PATCH",
      path,
      tag: "Management",
      summary: `Update ${noun}`,
      description: "Changes the fields in the body.",
      access: settings.write,
      input: {
        path: pathSchema,
        body: z.strictObject({ ...bodyShape(settings.fields), ...settings.bodyOnly }).partial(),
      },
      output,
      status: 200,
      findResource,
      findFaults: async (context, { body }): Promise<FieldFaults> => ({
        ...settings.check?.(context, body),
        ...(await referenceFaults(context, body, settings.references ?? {})),
      }),
      run: async (context, { body, resource: { id } }) => {
        const row = await change(settings, table, { context, id, body });
        if (row === undefined) throw notFound("record");
        return answer(context, row);
      },
    }),
  };
}

/** Writes what a body changes. `undefined`: the record is gone. */
async function change(
  { fields, present = (row) => row, afterUpdate }: ManagedSettings,
  table: ManagedTable,
  { context, id, body }: { context: OperationContext; id: number; body: Body },
): Promise<ManagedRow | undefined> {
  return await inTransaction(context.db, async (tx) => {
    const before = await table.lock(tx, context.workspace.id, id);
    if (before === undefined) return undefined;
    const values = { ...before, ...pick(presentFields(body), fields) };
    if (isDeepStrictEqual(present(values), present(before))) return before;
    const after = await table.update(tx, context.workspace.id, { id, values });
    if (after === undefined) return undefined;
    await afterUpdate?.(tx, { id, before, after, body });
    return after;
  });
}

function pick(body: Body, fields: Fields): Body {
  return Object.fromEntries(Object.entries(body).filter(([name]) => name in fields));
}
