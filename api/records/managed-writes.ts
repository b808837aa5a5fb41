import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import type { Queryable } from "../../schemas/postgres/connect.ts";
import { postgresCode, SQLSTATE, violatedConstraint } from "../../schemas/postgres/errors.ts";
import { inTransaction } from "../../schemas/postgres/transaction.ts";
import { referenceFaults } from "../access/references.ts";
import { deletedRecord } from "../fields/body-fields.ts";
import { requiredShape } from "../fields/field.ts";
import { presentFields } from "../http/patch.ts";
import { tryCodes } from "../operation/codes.ts";
import { ApiError, conflict, type ErrorCode, notFound } from "../operation/errors.ts";
import {
  type FieldFaults,
  type Operation,
  type OperationContext,
  operation,
} from "../operation/operation.ts";
import { complete, lockVisible, type Parts, secretOf, writeFinder } from "./managed-parts.ts";
import {
  type Body,
  type ManagedResource,
  nounOf,
  type RotatedSecret,
  type TakenField,
  tagOf,
  withArticle,
} from "./managed-resource.ts";
import type { ManagedRow } from "./managed-table.ts";
import { opened, writeSealed } from "./sealed-field.ts";

const ParentRecord = z.looseObject({ id: z.int() });

export function createOperation(parts: Parts): Operation {
  const { managed, table, bodyFields, defaults, one, show } = parts;
  const { parent, generated } = managed;
  const schema = z.strictObject(bodyFields).partial().extend(requiredShape(managed.fields));
  const defaultsOf = (context: OperationContext, record: unknown): Body => ({
    ...defaults,
    ...generated?.(context),
    ...secretOf(managed),
    ...(parent === undefined ? {} : { [parent.column]: ParentRecord.parse(record).id }),
  });
  return operation<z.ZodType, undefined, z.ZodObject, unknown>({
    name: `create${managed.names.one}`,
    method: "POST",
    path: `${parent?.operation.path ?? ""}${managed.path}`,
    tag: tagOf(managed),
    summary: `Create ${withArticle(managed)}`,
    ...(managed.descriptions?.create === undefined
      ? {}
      : { description: managed.descriptions.create }),
    access: managed.write,
    input: { path: parent?.operation.input.path, body: schema },
    bodyDefaults: defaults,
    output: one,
    status: 201,
    failures: failuresOfWrite(managed),
    findResource: parent?.operation.findResource,
    findFaults: async (context, { body, resource }) =>
      await faultsOfRecords(managed, context, { body, before: defaultsOf(context, resource) }),
    run: async (context, { body, resource }) => {
      const insert = async (): Promise<ManagedRow> => {
        const values = { ...defaultsOf(context, resource), ...presentFields(body) };
        return await inTransaction(context.db, async (tx) => {
          await assertRoom({ managed, table }, tx, context.workspace.id, values);
          await managed.beforeWrite?.(tx, context.workspace.id, values);
          const made = await table.insert(tx, context.workspace.id, complete(managed, values));
          const { id } = made;
          const sealed = await writeSealed({ managed, table }, tx, context, { id, values });
          return opened(managed, context, sealed ?? made);
        });
      };
      const isGeneratedTaken = (error: unknown): boolean => {
        const field = takenField(managed, error)?.field ?? "";
        return body[field] === undefined && field in (generated?.(context) ?? {});
      };
      const row = await unlessTaken(managed, async () => await tryCodes(insert, isGeneratedTaken));
      return { body: { data: await show(context, row) } };
    },
  });
}

/** @throws {ApiError} `conflict` when the maximum number of records is reached. */
async function assertRoom(
  { managed, table }: Pick<Parts, "managed" | "table">,
  tx: Queryable,
  workspaceId: number,
  values: Body,
): Promise<void> {
  const { recordsMax, parent } = managed;
  if (recordsMax === undefined) return;
  const having = parent === undefined ? {} : { [parent.column]: values[parent.column] };
  const count = await table.countForInsert(tx, workspaceId, { having, rowsMax: recordsMax });
  if (count >= recordsMax)
    throw new ApiError(
      "conflict",
      `there are ${recordsMax} already: delete ${withArticle(managed)}`,
    );
}

export function updateOperation(parts: Parts): Operation {
  const { managed, bodyFields, one, show } = parts;
  return operation({
    name: `update${managed.names.one}`,
    method: "PATCH",
    path: `${managed.path}/{id}`,
    tag: tagOf(managed),
    summary: `Update ${withArticle(managed)}`,
    description: "Changes the fields in the body.",
    access: managed.write,
    input: { path: parts.path, body: z.strictObject(bodyFields).partial() },
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
          await inTransaction(
            context.db,
            async (tx) => await changeRecord(parts, tx, context, { id, body }),
          ),
      );
      return { body: { data: await show(context, row) } };
    },
  });
}

/** Writes what a body changes of one record, with all that follows from it. @throws {ApiError} `not_found` */
export async function changeRecord(
  parts: Parts,
  tx: Queryable,
  context: OperationContext,
  { id, body }: { readonly id: number; readonly body: Body },
): Promise<ManagedRow> {
  const { managed, table } = parts;
  const current = await lockVisible(parts, tx, context, id);
  const values = { ...current, ...presentFields(body) };
  // Nothing changed, so `updated_at` stays (G13, G28).
  if (isDeepStrictEqual(values, current)) return current;
  await managed.beforeWrite?.(tx, context.workspace.id, values);
  const change = { id, values: complete(managed, values) };
  const written = await table.update(tx, context.workspace.id, change);
  if (written === undefined) throw notFound(nounOf(managed));
  const field = managed.sealed?.field ?? "";
  // What did not change stays as it is sealed, also if no key opens it.
  const sealed = isDeepStrictEqual(values[field], current[field])
    ? undefined
    : await writeSealed(parts, tx, context, { id, values });
  const after = opened(managed, context, sealed ?? written);
  await managed.afterUpdate?.(tx, context, { before: current, after });
  return after;
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

/** The field with a value that another record already has; undefined for any other error. */
function takenField({ taken = {} }: ManagedResource, error: unknown): TakenField | undefined {
  const field = taken[violatedConstraint(error)];
  return typeof field === "string" ? { field, message: `another record has this ${field}` } : field;
}

export function removeOperation(parts: Parts): Operation {
  const { managed, table } = parts;
  const noun = nounOf(managed);
  return operation({
    name: `delete${managed.names.one}`,
    method: "DELETE",
    path: `${managed.path}/{id}`,
    tag: tagOf(managed),
    summary: `Delete ${withArticle(managed)}`,
    access: managed.write,
    input: { path: parts.path },
    output: z.object({ data: deletedRecord }),
    status: 200,
    failures: ["in_use"],
    findResource: writeFinder(parts),
    run: async (context, { resource: { id } }) => {
      const { db, workspace } = context;
      const usedBy = await managed.findUse?.(db, id);
      if (usedBy !== undefined)
        throw new ApiError("in_use", `the ${noun} is still used by ${usedBy}`);
      await deleteUnused(
        async () =>
          await inTransaction(db, async (tx) => {
            await lockVisible(parts, tx, context, id);
            await table.delete(tx, workspace.id, id);
          }),
        `the ${noun} is still used by other records`,
      );
      return { body: { data: { id, deleted: true } } };
    },
  });
}

/** Runs a delete of a record. @throws {ApiError} `in_use` when a foreign key still refers to the record (G186). */
async function deleteUnused(run: () => Promise<unknown>, message: string): Promise<void> {
  try {
    await run();
  } catch (error) {
    if (postgresCode(error) !== SQLSTATE.foreignKeyViolation) throw error;
    throw new ApiError("in_use", message);
  }
}

export function rotateOperation(
  parts: Parts,
  { column, mint, forgetEarlier, operation: its }: RotatedSecret,
): Operation {
  const { managed, table, path, one, show } = parts;
  return operation({
    name: its.name,
    method: "POST",
    path: `${managed.path}/{id}/${its.pathEnd}`,
    tag: "Management",
    summary: its.summary,
    description: its.description,
    access: { ...managed.write, needsFresh: true },
    input: { path },
    output: one,
    status: 200,
    findResource: writeFinder(parts),
    run: async (context, { resource: { id } }) => {
      const change = { id, column, value: mint() };
      const row = await inTransaction(context.db, async (tx) => {
        const set = await table.set(tx, context.workspace.id, change);
        await forgetEarlier?.(tx, id);
        return set;
      });
      if (row === undefined) throw notFound(nounOf(managed));
      return { body: { data: await show(context, row) } };
    },
  });
}
