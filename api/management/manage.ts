import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import type { Queryable } from "../../schemas/postgres/connect.ts";
import { postgresCode, SQLSTATE, violatedConstraint } from "../../schemas/postgres/errors.ts";
import { inTransaction } from "../../schemas/postgres/transaction.ts";
import type { Principal } from "../access/principal.ts";
import { type References, referenceFaults } from "../access/references.ts";
import { type Resource, shownSchema, showTo } from "../access/visibility.ts";
import { ApiError, conflict, type ErrorCode, notFound } from "../errors.ts";
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

/** A managed resource whose records are rows of one table: what tells it from the others. */
export type ManagedResource = {
  /** Name of the rule in the table of visibility; "smart_link" is called "smart link" in messages. */
  readonly resource: Resource;
  /** Ends of the names of its operations: `list` + many, `create` + one. */
  readonly names: { readonly one: string; readonly many: string };
  readonly path: string;
  /** "Management" unless the contract has it under a name of its own. */
  readonly tag?: string;
  readonly table: string;
  /** What a body may have. Every field is a column. */
  readonly fields: z.ZodRawShape;
  /** Fields that a new record must have. */
  readonly required: readonly string[];
  /** Values of the other fields of a new record. */
  readonly defaults: Body;
  /** Those that depend on the caller or are made anew for each. */
  readonly minted?: (context: OperationContext) => Body;
  /** Columns that an answer has besides `fields`. `id` and times belong here. */
  readonly kept: z.ZodRawShape;
  /** Those of `kept` that `defaults`, `minted` or `under` set when a record is made, and nothing afterwards. */
  readonly made?: readonly string[];
  /** Records that belong to one of another resource are made under its path: its operation, and the column of its id. */
  readonly under?: { readonly of: Operation; readonly column: string };
  /** Most records of the workspace, or under one record. */
  readonly recordsMax?: number;
  /** Schemas of fields in answers; all of `fields`, and what `present` adds. */
  readonly shown: z.ZodRawShape;
  /** A record as it is answered, where that is more than its columns. */
  readonly present?: (context: OperationContext, row: ManagedRow) => Body | Promise<Body>;
  /** Whether a key that may read sees this record, where that takes more than its workspace. */
  readonly isSeen?: (db: Queryable, principal: Principal, row: ManagedRow) => Promise<boolean>;
  /** Throws for a record that the key may read and neither change nor delete. */
  readonly refuseWrite?: (principal: Principal, row: ManagedRow) => void;
  readonly read: OperationAccess;
  readonly write: OperationAccess;
  /** Query parameters of the list; each is a column. */
  readonly filters?: z.ZodRawShape;
  readonly references?: References;
  /** Unique index, or what else refuses a value, to the field whose value it is; "another record has this" without a message. */
  readonly taken?: Readonly<Record<string, string | TakenField>>;
  /** Faults that two fields show together. `values` is the body over what is stored or the defaults. May throw a refusal. */
  readonly findFaults?: (
    context: OperationContext,
    values: Body,
    sent: { readonly body: Body; readonly before: Body },
  ) => FieldFaults | Promise<FieldFaults>;
  /** What `findFaults` throws. */
  readonly refusals?: readonly ErrorCode[];
  /** What else a write changes, in its transaction and before it. */
  readonly beforeWrite?: (tx: Queryable, workspaceId: number, values: Body) => Promise<void>;
  /** A word for what uses a record in a way that no foreign key holds; undefined when nothing does. */
  readonly findUser?: (db: Queryable, id: number) => Promise<string | undefined>;
};

type TakenField = { readonly field: string; readonly message: string };

export type ManagedOperations = {
  /** One record in answers, for operations besides these. */
  readonly Shown: z.ZodType;
  readonly list: Operation;
  readonly get: Operation;
  readonly create: Operation;
  readonly update: Operation;
  readonly remove: Operation;
};

const IdPath = z.object({ id: pathId });
const Parent = z.looseObject({ id: z.int() });

/** The five operations of a managed resource; take those that the resource has (schemas/contract/management.md). */
export function manage(managed: ManagedResource): ManagedOperations {
  const Shown = shownSchema(managed.resource, { ...managed.kept, ...managed.shown }).meta({
    id: managed.names.one,
  });
  const table = new ManagedTable({
    table: managed.table,
    written: Object.keys(managed.fields),
    kept: Object.keys(managed.kept),
    ...(managed.made === undefined ? {} : { made: managed.made }),
  });
  const one = z.object({ data: Shown });
  const noun = nounOf(managed);
  const show = async (
    context: OperationContext,
    row: ManagedRow,
  ): Promise<Record<string, unknown>> =>
    showTo(
      context.principal.role,
      managed.resource,
      (await managed.present?.(context, row)) ?? row,
    );
  const parts: Parts = { managed, table, Shown, one, show };
  const findResource = finder(parts);
  return {
    Shown,
    list: listOperation(parts),
    get: operation({
      name: `get${managed.names.one}`,
      method: "GET",
      path: `${managed.path}/{id}`,
      tag: tagOf(managed),
      summary: `One ${noun}`,
      access: managed.read,
      input: { path: IdPath },
      output: one,
      status: 200,
      findResource,
      run: async (context, { resource }) => ({ body: { data: await show(context, resource) } }),
    }),
    create: createOperation(parts),
    update: updateOperation(parts),
    remove: removeOperation(parts),
  };
}

type Parts = {
  readonly managed: ManagedResource;
  readonly table: ManagedTable;
  readonly Shown: z.ZodType;
  /** An answer of one record. */
  readonly one: z.ZodType;
  readonly show: (context: OperationContext, row: ManagedRow) => Promise<Record<string, unknown>>;
};

/** What a path names, as the key may see it. */
function finder({ managed, table }: Parts) {
  return async (
    { db, workspace, principal }: OperationContext,
    { id }: { readonly id: number },
  ): Promise<ManagedRow> => {
    const row = await table.find(db, workspace.id, id);
    if (row === undefined || (await managed.isSeen?.(db, principal, row)) === false)
      throw notFound(nounOf(managed));
    return row;
  };
}

/** The same for a write. */
function writeFinder(parts: Parts) {
  const find = finder(parts);
  return async (context: OperationContext, path: { readonly id: number }): Promise<ManagedRow> => {
    const row = await find(context, path);
    parts.managed.refuseWrite?.(context.principal, row);
    return row;
  };
}

/** The same, locked until the end of the transaction: it may have gone or passed to another account since it was found. */
async function lockSeen(
  { managed, table }: Parts,
  tx: Queryable,
  { workspace, principal }: OperationContext,
  id: number,
): Promise<ManagedRow> {
  const row = await table.lock(tx, workspace.id, id);
  if (row === undefined || (await managed.isSeen?.(tx, principal, row)) === false)
    throw notFound(nounOf(managed));
  managed.refuseWrite?.(principal, row);
  return row;
}

function removeOperation(parts: Parts): Operation {
  const { managed, table } = parts;
  const noun = nounOf(managed);
  return operation({
    name: `delete${managed.names.one}`,
    method: "DELETE",
    path: `${managed.path}/{id}`,
    tag: tagOf(managed),
    summary: `Delete a ${noun}`,
    access: managed.write,
    input: { path: IdPath },
    output: z.object({ data: deletedRecord }),
    status: 200,
    failures: ["in_use"],
    findResource: writeFinder(parts),
    run: async (context, { path }) => {
      const { db, workspace } = context;
      const user = await managed.findUser?.(db, path.id);
      if (user !== undefined) throw new ApiError("in_use", `the ${noun} is still used by ${user}`);
      await deleteUnused(
        async () =>
          await inTransaction(db, async (tx) => {
            await lockSeen(parts, tx, context, path.id);
            await table.delete(tx, workspace.id, path.id);
          }),
        `the ${noun} is still used by other records`,
      );
      return { body: { data: { id: path.id, deleted: true } } };
    },
  });
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

function listOperation({ managed, table, Shown, show }: Parts): Operation {
  const name = `list${managed.names.many}`;
  return operation({
    name,
    method: "GET",
    path: managed.path,
    tag: tagOf(managed),
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
      const { data, next_cursor } = page.close(rows, {
        positionOf: (row) => ({ at: row.created_at, id: String(row.id) }),
        show: (row) => show(context, row),
      });
      return { body: { data: await Promise.all(data), next_cursor } };
    },
  });
}

function createOperation({ managed, table, one, show }: Parts): Operation {
  const { under } = managed;
  const optional = z.strictObject(managed.fields).partial();
  const required = Object.fromEntries(managed.required.map((name) => [name, true as const]));
  const defaultsOf = (context: OperationContext, parent: unknown): Body => ({
    ...managed.defaults,
    ...managed.minted?.(context),
    ...(under === undefined ? {} : { [under.column]: Parent.parse(parent).id }),
  });
  return operation<z.ZodType, undefined, z.ZodObject, unknown>({
    name: `create${managed.names.one}`,
    method: "POST",
    path: `${under?.of.path ?? ""}${managed.path}`,
    tag: tagOf(managed),
    summary: `Create a ${nounOf(managed)}`,
    access: managed.write,
    input: {
      ...(under?.of.input.path === undefined ? {} : { path: under.of.input.path }),
      body: optional.required(required),
    },
    bodyDefaults: managed.defaults,
    output: one,
    status: 201,
    failures: failuresOfWrite(managed),
    ...(under?.of.findResource === undefined ? {} : { findResource: under.of.findResource }),
    findFaults: async (context, { body, resource }) =>
      await faultsOfRecords(managed, context, { body, before: defaultsOf(context, resource) }),
    run: async (context, { body, resource }) => {
      const values = { ...defaultsOf(context, resource), ...presentFields(body) };
      const row = await unlessTaken(
        managed,
        async () =>
          await inTransaction(context.db, async (tx) => {
            await makeRoom({ managed, table }, tx, context.workspace.id, values);
            await managed.beforeWrite?.(tx, context.workspace.id, values);
            return await table.insert(tx, context.workspace.id, values);
          }),
      );
      return { body: { data: await show(context, row) } };
    },
  });
}

/** @throws {ApiError} `conflict` when there are as many records as there may be. */
async function makeRoom(
  { managed, table }: Pick<Parts, "managed" | "table">,
  tx: Queryable,
  workspaceId: number,
  values: Body,
): Promise<void> {
  const { recordsMax, under } = managed;
  if (recordsMax === undefined) return;
  const having = under === undefined ? {} : { [under.column]: values[under.column] };
  const count = await table.countForInsert(tx, workspaceId, { having, rowsMax: recordsMax });
  if (count >= recordsMax)
    throw new ApiError("conflict", `there are ${recordsMax} already: delete a ${nounOf(managed)}`);
}

function updateOperation(parts: Parts): Operation {
  const { managed, table, one, show } = parts;
  return operation({
    name: `update${managed.names.one}`,
    method: "PATCH",
    path: `${managed.path}/{id}`,
    tag: tagOf(managed),
    summary: `Change fields of a ${nounOf(managed)}`,
    access: managed.write,
    input: { path: IdPath, body: z.strictObject(managed.fields).partial() },
    output: one,
    status: 200,
    failures: failuresOfWrite(managed),
    findResource: writeFinder(parts),
    findFaults: async (context, { body, resource }) =>
      await faultsOfRecords(managed, context, { body, before: resource }),
    run: async (context, { body, path }) => {
      const row = await unlessTaken(
        managed,
        async () =>
          await inTransaction(context.db, async (tx) => {
            const current = await lockSeen(parts, tx, context, path.id);
            const values = { ...current, ...presentFields(body) };
            // Nothing changed: `updated_at` stays (G13, G28).
            if (isDeepStrictEqual(values, current)) return current;
            await managed.beforeWrite?.(tx, context.workspace.id, values);
            return await table.update(tx, context.workspace.id, { id: path.id, values });
          }),
      );
      if (row === undefined) throw notFound(nounOf(managed));
      return { body: { data: await show(context, row) } };
    },
  });
}

function failuresOfWrite({ taken, recordsMax, refusals = [] }: ManagedResource): ErrorCode[] {
  const isLimited = taken !== undefined || recordsMax !== undefined;
  return [...(isLimited ? ["conflict" as const] : []), ...refusals];
}

async function faultsOfRecords(
  { references = {}, findFaults }: ManagedResource,
  context: OperationContext,
  { body, before }: { readonly body: Body; readonly before: Body },
): Promise<FieldFaults> {
  return {
    ...(await findFaults?.(context, { ...before, ...body }, { body, before })),
    ...(await referenceFaults(context, body, references)),
  };
}

async function unlessTaken<T>({ taken = {} }: ManagedResource, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    const refused = taken[violatedConstraint(error)];
    if (refused === undefined) throw error;
    if (typeof refused !== "string") throw conflict(refused.field, refused.message);
    throw conflict(refused, `another record has this ${refused}`);
  }
}

function tagOf({ tag = "Management" }: ManagedResource): string {
  return tag;
}

/** "smart_link" as people read it. */
function nounOf({ resource }: ManagedResource): string {
  return resource.replaceAll("_", " ");
}
