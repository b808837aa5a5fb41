import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import type { Queryable } from "../../schemas/postgres/connect.ts";
import { postgresCode, SQLSTATE, violatedConstraint } from "../../schemas/postgres/errors.ts";
import { inTransaction } from "../../schemas/postgres/transaction.ts";
import { type References, referenceFaults } from "../access/references.ts";
import { type Resource, shownSchema, showTo } from "../access/visibility.ts";
import { ApiError, conflict, notFound } from "../errors.ts";
import {
  type FieldFaults,
  type Operation,
  type OperationAccess,
  type OperationContext,
  operation,
} from "../operation.ts";
import { deletedRecord } from "../rest/body-fields.ts";
import { openPage } from "../rest/page.ts";
import { presentFields } from "../rest/patch.ts";
import { pathId } from "../rest/path-fields.ts";
import { pageParams } from "../rest/query-fields.ts";
import { type ManagedRow, ManagedTable } from "./managed-table.ts";

type Body = Readonly<Record<string, unknown>>;

/** A resource of management.md whose records are rows of one table: what tells it from the others. */
export type ManagedResource = {
  /** Name of the rule in the table of visibility; "smart_link" is called "smart link" in messages. */
  readonly resource: Resource;
  /** Ends of the names of its operations: `list` + many, `create` + one. */
  readonly names: { readonly one: string; readonly many: string };
  readonly path: string;
  readonly table: string;
  /** What a body may have. Every field is a column. */
  readonly fields: z.ZodRawShape;
  /** Fields that a new record must have. */
  readonly required: readonly string[];
  /** Values of the other fields of a new record. */
  readonly defaults: Body | ((context: OperationContext) => Body);
  /** What an answer has besides `fields`. `id` and times belong here. */
  readonly kept: z.ZodRawShape;
  /** Schemas of fields in answers; all of `fields`. */
  readonly shown: z.ZodRawShape;
  readonly read: OperationAccess;
  readonly write: OperationAccess;
  /** Query parameters of the list; each is a column. */
  readonly filters?: z.ZodRawShape;
  readonly references?: References;
  /** Unique index to the field whose value another record has. */
  readonly taken?: Readonly<Record<string, string>>;
  /** Faults that two fields show together. `values` is the body over what is stored or the defaults. */
  readonly findFaults?: (
    context: OperationContext,
    values: Body,
  ) => FieldFaults | Promise<FieldFaults>;
  /** What else a write changes, in its transaction and before it. */
  readonly beforeWrite?: (tx: Queryable, workspaceId: number, values: Body) => Promise<void>;
  /** A word for what uses a record in a way that no foreign key holds; undefined when nothing does. */
  readonly findUser?: (db: Queryable, id: number) => Promise<string | undefined>;
};

export type ManagedOperations = {
  readonly list: Operation;
  readonly get: Operation;
  readonly create: Operation;
  readonly update: Operation;
  readonly remove: Operation;
};

const TAG = "Management";
const IdPath = z.object({ id: pathId });

/** The five operations of a managed resource; take those that management.md lists. */
export function manage(managed: ManagedResource): ManagedOperations {
  const Shown = shownSchema(managed.resource, { ...managed.kept, ...managed.shown }).meta({
    id: managed.names.one,
  });
  const table = new ManagedTable({
    table: managed.table,
    written: Object.keys(managed.fields),
    kept: Object.keys(managed.kept),
  });
  const one = z.object({ data: Shown });
  const noun = nounOf(managed);
  const findResource = async (
    { db, workspace }: OperationContext,
    { id }: { readonly id: number },
  ): Promise<ManagedRow> => {
    const row = await table.find(db, workspace.id, id);
    if (row === undefined) throw notFound(noun);
    return row;
  };
  const show = (context: OperationContext, row: ManagedRow): Record<string, unknown> =>
    showTo(context.principal.role, managed.resource, row);
  return {
    list: listOperation(managed, { table, Shown, show }),
    get: operation({
      name: `get${managed.names.one}`,
      method: "GET",
      path: `${managed.path}/{id}`,
      tag: TAG,
      summary: `One ${noun}`,
      access: managed.read,
      input: { path: IdPath },
      output: one,
      status: 200,
      findResource,
      run: async (context, { resource }) =>
        await Promise.resolve({ body: { data: show(context, resource) } }),
    }),
    create: createOperation(managed, { table, one, show }),
    update: updateOperation(managed, { table, one, show, findResource }),
    remove: operation({
      name: `delete${managed.names.one}`,
      method: "DELETE",
      path: `${managed.path}/{id}`,
      tag: TAG,
      summary: `Delete a ${noun}`,
      access: managed.write,
      input: { path: IdPath },
      output: z.object({ data: deletedRecord }),
      status: 200,
      findResource,
      run: async ({ db, workspace }, { path }) => {
        const user = await managed.findUser?.(db, path.id);
        if (user !== undefined)
          throw new ApiError("in_use", `the ${noun} is still used by ${user}`);
        await deleteUnused(
          async () => await table.delete(db, workspace.id, path.id),
          `the ${noun} is still used by other records`,
        );
        return { body: { data: { id: path.id, deleted: true } } };
      },
    }),
  };
}

/** Runs a delete of a record. @throws {ApiError} `in_use` when a foreign key holds the record (G186). */
async function deleteUnused(run: () => Promise<unknown>, message: string): Promise<void> {
  try {
    await run();
  } catch (error) {
    if (postgresCode(error) !== SQLSTATE.foreignKeyViolation) throw error;
    throw new ApiError("in_use", message);
  }
}

type Parts = {
  readonly table: ManagedTable;
  readonly show: (context: OperationContext, row: ManagedRow) => Record<string, unknown>;
};

function listOperation(
  managed: ManagedResource,
  { table, Shown, show }: Parts & { readonly Shown: z.ZodType },
): Operation {
  const name = `list${managed.names.many}`;
  return operation({
    name,
    method: "GET",
    path: managed.path,
    tag: TAG,
    summary: `The list of every ${nounOf(managed)}, newest first`,
    access: managed.read,
    input: { query: z.object({ ...managed.filters, ...pageParams }) },
    output: z.object({ data: z.array(Shown), next_cursor: z.string().nullable() }),
    status: 200,
    run: async (context, { query }) => {
      const { limit, cursor, ...filters } = query;
      const page = openPage(context, name, { ...filters, limit, cursor });
      const rows = await table.list(context.db, context.workspace.id, {
        filters: presentFields(filters),
        after: page.after,
        rowsMax: page.rowsMax,
      });
      return {
        body: page.close(rows, {
          positionOf: (row) => ({ at: row.created_at, id: String(row.id) }),
          show: (row) => show(context, row),
        }),
      };
    },
  });
}

function createOperation(
  managed: ManagedResource,
  { table, one, show }: Parts & { readonly one: z.ZodType },
): Operation {
  const optional = z.strictObject(managed.fields).partial();
  const required = Object.fromEntries(managed.required.map((name) => [name, true as const]));
  const defaultsOf = (context: OperationContext): Body =>
    typeof managed.defaults === "function" ? managed.defaults(context) : managed.defaults;
  return operation({
    name: `create${managed.names.one}`,
    method: "POST",
    path: managed.path,
    tag: TAG,
    summary: `Create a ${nounOf(managed)}`,
    access: managed.write,
    input: { body: optional.required(required) },
    output: one,
    status: 201,
    findFaults: async (context, { body }) =>
      await faultsOfRecords(managed, context, { body, before: defaultsOf(context) }),
    run: async (context, { body }) => {
      const values = { ...defaultsOf(context), ...presentFields(body) };
      const row = await unlessTaken(
        managed,
        async () =>
          await inTransaction(context.db, async (tx) => {
            await managed.beforeWrite?.(tx, context.workspace.id, values);
            return await table.insert(tx, context.workspace.id, values);
          }),
      );
      return { body: { data: show(context, row) } };
    },
  });
}

function updateOperation(
  managed: ManagedResource,
  parts: Parts & {
    readonly one: z.ZodType;
    readonly findResource: (
      context: OperationContext,
      path: { readonly id: number },
    ) => Promise<ManagedRow>;
  },
): Operation {
  const { table, one, show, findResource } = parts;
  return operation({
    name: `update${managed.names.one}`,
    method: "PATCH",
    path: `${managed.path}/{id}`,
    tag: TAG,
    summary: `Change fields of a ${nounOf(managed)}`,
    access: managed.write,
    input: { path: IdPath, body: z.strictObject(managed.fields).partial() },
    output: one,
    status: 200,
    findResource,
    findFaults: async (context, { body, resource }) =>
      await faultsOfRecords(managed, context, { body, before: resource }),
    run: async (context, { body, path }) => {
      const row = await unlessTaken(
        managed,
        async () =>
          await inTransaction(context.db, async (tx) => {
            const current = await table.lock(tx, context.workspace.id, path.id);
            if (current === undefined) return undefined;
            const values = { ...current, ...presentFields(body) };
            // Nothing changed: `updated_at` stays (G13, G28).
            if (isDeepStrictEqual(values, current)) return current;
            await managed.beforeWrite?.(tx, context.workspace.id, values);
            return await table.update(tx, context.workspace.id, { id: path.id, values });
          }),
      );
      if (row === undefined) throw notFound(nounOf(managed));
      return { body: { data: show(context, row) } };
    },
  });
}

async function faultsOfRecords(
  { references = {}, findFaults }: ManagedResource,
  context: OperationContext,
  { body, before }: { readonly body: Body; readonly before: Body },
): Promise<FieldFaults> {
  return {
    ...(await findFaults?.(context, { ...before, ...body })),
    ...(await referenceFaults(context, body, references)),
  };
}

async function unlessTaken<T>({ taken = {} }: ManagedResource, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    const field = taken[violatedConstraint(error)];
    if (field === undefined) throw error;
    throw conflict(field, `another record has this ${field}`);
  }
}

/** "smart_link" as people read it. */
function nounOf({ resource }: ManagedResource): string {
  return resource.replaceAll("_", " ");
}
