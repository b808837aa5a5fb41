import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import type { Queryable } from "../../schemas/postgres/connect.ts";
import { postgresCode, SQLSTATE, violatedConstraint } from "../../schemas/postgres/errors.ts";
import { inTransaction } from "../../schemas/postgres/transaction.ts";
import { referenceFaults } from "../access/references.ts";
import { shownSchema, showTo } from "../access/visibility.ts";
import { ApiError, conflict, type ErrorCode, notFound } from "../errors.ts";
import {
  type FieldFaults,
  type Operation,
  type OperationContext,
  operation,
} from "../operation.ts";
import { deletedRecord } from "../rest/body-fields.ts";
import { type Reference, tryCodes } from "../rest/codes.ts";
import { openPage } from "../rest/page.ts";
import { presentFields } from "../rest/patch.ts";
import { pathId, reference } from "../rest/path-fields.ts";
import { pageParams } from "../rest/query-fields.ts";
import {
  type Body,
  type ManagedResource,
  nounOf,
  type RotatedSecret,
  type TakenField,
  tagOf,
} from "./managed-resource.ts";
import { type ManagedRow, ManagedTable } from "./managed-table.ts";

export type ManagedOperations = {
  /** One record in answers, for operations besides these. */
  readonly Shown: z.ZodType;
  readonly list: Operation;
  readonly get: Operation;
  readonly create: Operation;
  readonly update: Operation;
  readonly remove: Operation;
  /** The one that makes the secret anew, of a resource that has one. */
  readonly rotate: readonly Operation[];
  /** Makes a record without a request. `values` is not checked and has what `minted` would give. */
  readonly insert: (tx: Queryable, workspaceId: number, values: Body) => Promise<ManagedRow>;
};

const IdPath = z.object({ id: pathId });
const ReferencePath = z.object({ id: reference });
type NamingPath = { readonly id: number | Reference };
const Parent = z.looseObject({ id: z.int() });

/** The five operations of a managed resource; take those that the resource has (schemas/contract/management.md). */
export function manage(managed: ManagedResource): ManagedOperations {
  const Shown = shownSchema(managed.resource, { ...managed.kept, ...managed.shown }).meta({
    id: managed.names.one,
  });
  const { made = [], secret, derived } = managed;
  const table = new ManagedTable({
    table: managed.table,
    written: [...Object.keys(managed.fields), ...(derived?.columns ?? [])],
    kept: Object.keys(managed.kept),
    made: secret === undefined ? made : [...made, secret.column],
    ...(managed.conditions === undefined ? {} : { filters: managed.conditions }),
  });
  const show = async (
    context: OperationContext,
    row: ManagedRow,
  ): Promise<Record<string, unknown>> =>
    showTo(
      context.principal.role,
      managed.resource,
      (await managed.present?.(context, row)) ?? row,
    );
  const path = managed.hasCode === true ? ReferencePath : IdPath;
  const parts: Parts = { managed, table, Shown, path, one: z.object({ data: Shown }), show };
  return {
    Shown,
    list: listOperation(parts),
    get: getOperation(parts),
    create: createOperation(parts),
    update: updateOperation(parts),
    remove: removeOperation(parts),
    rotate: secret === undefined ? [] : [rotateOperation(parts, secret)],
    insert: async (tx, workspaceId, values) => {
      const all = { ...managed.defaults, ...secretOf(managed), ...values };
      return await table.insert(tx, workspaceId, complete(managed, all));
    },
  };
}

type Parts = {
  readonly managed: ManagedResource;
  readonly table: ManagedTable;
  readonly Shown: z.ZodType;
  /** What names a record in a path. */
  readonly path: z.ZodType<NamingPath>;
  /** An answer of one record. */
  readonly one: z.ZodType;
  readonly show: (context: OperationContext, row: ManagedRow) => Promise<Record<string, unknown>>;
};

/** What a path names, as the key may see it. */
function finder({ managed, table }: Parts) {
  return async (
    { db, workspace, principal }: OperationContext,
    { id }: NamingPath,
  ): Promise<ManagedRow> => {
    const row =
      typeof id === "number"
        ? await table.find(db, workspace.id, id)
        : await table.findByReference(db, workspace.id, id);
    if (row === undefined || (await managed.isSeen?.(db, principal, row)) === false)
      throw notFound(nounOf(managed));
    return row;
  };
}

/** The same for a write. */
function writeFinder(parts: Parts) {
  const find = finder(parts);
  return async (context: OperationContext, path: NamingPath): Promise<ManagedRow> => {
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

function getOperation(parts: Parts): Operation {
  const { managed, path, one, show } = parts;
  return operation({
    name: `get${managed.names.one}`,
    method: "GET",
    path: `${managed.path}/{id}`,
    tag: tagOf(managed),
    summary: managed.summaries?.get ?? `One ${nounOf(managed)}`,
    access: managed.read,
    input: { path },
    output: one,
    status: 200,
    findResource: finder(parts),
    run: async (context, { resource }) => ({ body: { data: await show(context, resource) } }),
  });
}

function rotateOperation(parts: Parts, { column, mint, operation: its }: RotatedSecret): Operation {
  const { managed, table, path, one, show } = parts;
  return operation({
    name: its.name,
    method: "POST",
    path: `${managed.path}/{id}/${its.end}`,
    tag: "Management",
    summary: its.summary,
    access: managed.write,
    input: { path },
    output: one,
    status: 200,
    findResource: writeFinder(parts),
    run: async (context, { resource: { id } }) => {
      const change = { id, column, value: mint() };
      const row = await table.set(context.db, context.workspace.id, change);
      if (row === undefined) throw notFound(nounOf(managed));
      return { body: { data: await show(context, row) } };
    },
  });
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
    input: { path: parts.path },
    output: z.object({ data: deletedRecord }),
    status: 200,
    failures: ["in_use"],
    findResource: writeFinder(parts),
    run: async (context, { resource: { id } }) => {
      const { db, workspace } = context;
      const user = await managed.findUser?.(db, id);
      if (user !== undefined) throw new ApiError("in_use", `the ${noun} is still used by ${user}`);
      await deleteUnused(
        async () =>
          await inTransaction(db, async (tx) => {
            await lockSeen(parts, tx, context, id);
            await table.delete(tx, workspace.id, id);
          }),
        `the ${noun} is still used by other records`,
      );
      return { body: { data: { id, deleted: true } } };
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
    summary: managed.summaries?.list ?? `The list of every ${nounOf(managed)}, newest first`,
    access: managed.read,
    input: { query: z.object({ ...managed.filters, ...pageParams }) },
    output: z.object({ data: z.array(Shown), next_cursor: z.string().nullable() }),
    status: 200,
    run: async (context, { query }) => {
      const { limit, cursor, ...filters } = query;
      const page = openPage(context, name, { ...filters, limit, cursor });
      const rows = await table.list(context.db, context.workspace.id, {
        filters: managed.narrow?.(context.principal, filters) ?? filters,
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
  const { under, minted } = managed;
  const optional = z.strictObject(managed.fields).partial();
  const required = Object.fromEntries(managed.required.map((name) => [name, true as const]));
  const defaultsOf = (context: OperationContext, parent: unknown): Body => ({
    ...managed.defaults,
    ...minted?.(context),
    ...secretOf(managed),
    ...(under === undefined ? {} : { [under.column]: Parent.parse(parent).id }),
  });
  return operation<z.ZodType, undefined, z.ZodObject, unknown>({
    name: `create${managed.names.one}`,
    method: "POST",
    path: `${under?.of.path ?? ""}${managed.path}`,
    tag: tagOf(managed),
    summary: managed.summaries?.create ?? `Create a ${nounOf(managed)}`,
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
      const insert = async (): Promise<ManagedRow> => {
        const values = { ...defaultsOf(context, resource), ...presentFields(body) };
        return await inTransaction(context.db, async (tx) => {
          await makeRoom({ managed, table }, tx, context.workspace.id, values);
          await managed.beforeWrite?.(tx, context.workspace.id, values);
          return await table.insert(tx, context.workspace.id, complete(managed, values));
        });
      };
      const isOursTaken = (error: unknown): boolean => {
        const field = takenField(managed, error)?.field ?? "";
        return body[field] === undefined && field in (minted?.(context) ?? {});
      };
      const row = await unlessTaken(managed, async () => await tryCodes(insert, isOursTaken));
      return { body: { data: await show(context, row) } };
    },
  });
}

function secretOf({ secret }: ManagedResource): Body {
  return secret === undefined ? {} : { [secret.column]: secret.mint() };
}

/** The values of a row with those that follow from them. */
function complete({ derived }: ManagedResource, values: Body): Body {
  return { ...values, ...derived?.from(values) };
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
    summary: managed.summaries?.update ?? `Change fields of a ${nounOf(managed)}`,
    access: managed.write,
    input: { path: parts.path, body: z.strictObject(managed.fields).partial() },
    output: one,
    status: 200,
    failures: failuresOfWrite(managed),
    findResource: writeFinder(parts),
    findFaults: async (context, { body, resource }) =>
      await faultsOfRecords(managed, context, { body, before: resource }),
    run: async (context, { body, resource: { id } }) => {
      const row = await unlessTaken(
        managed,
        async () =>
          await inTransaction(context.db, async (tx) => {
            const current = await lockSeen(parts, tx, context, id);
            const values = { ...current, ...presentFields(body) };
            // Nothing changed: `updated_at` stays (G13, G28).
            if (isDeepStrictEqual(values, current)) return current;
            await managed.beforeWrite?.(tx, context.workspace.id, values);
            const row = { id, values: complete(managed, values) };
            const after = await table.update(tx, context.workspace.id, row);
            if (after === undefined) throw notFound(nounOf(managed));
            await managed.afterUpdate?.(tx, context.workspace.id, { before: current, after });
            return after;
          }),
      );
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

async function unlessTaken<T>(managed: ManagedResource, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    const refused = takenField(managed, error);
    if (refused === undefined) throw error;
    throw conflict(refused.field, refused.message);
  }
}

/** The field whose value another record has; undefined when something else went wrong. */
function takenField({ taken = {} }: ManagedResource, error: unknown): TakenField | undefined {
  const field = taken[violatedConstraint(error)];
  return typeof field === "string" ? { field, message: `another record has this ${field}` } : field;
}
