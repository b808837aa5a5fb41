import { z } from "zod";
import type { Queryable } from "../../schemas/postgres/connect.ts";
import { inOrderOfAnswers, isShown, shownSchema, showTo } from "../access/visibility.ts";
import { bodyShape, shownShape, unsetValues } from "../fields/field.ts";
import type { FilterValues } from "../http/filter-conditions.ts";
import { positionIn, sortParam } from "../http/list-order.ts";
import { openPage } from "../http/page.ts";
import { pageParams } from "../http/query-fields.ts";
import { type Operation, type OperationContext, operation } from "../operation/operation.ts";
import { complete, finder, IdPath, type Parts, ReferencePath, secretOf } from "./managed-parts.ts";
import { type Body, type ManagedResource, nounOf, tagOf, withArticle } from "./managed-resource.ts";
import { type ManagedRow, ManagedTable } from "./managed-table.ts";
import {
  changeRecord,
  createOperation,
  removeOperation,
  rotateOperation,
  updateOperation,
} from "./managed-writes.ts";
import { opened } from "./sealed-field.ts";

export type ManagedOperations = {
  /** Schema of one record in answers, for other operations. */
  readonly Shown: z.ZodType;
  readonly list: Operation;
  readonly get: Operation;
  readonly create: Operation;
  /** Creates a record from a row of a file; not part of the API. */
  readonly createImported: Operation;
  readonly update: Operation;
  readonly remove: Operation;
  /** The operation that replaces the secret, for a resource that has one. */
  readonly rotate: readonly Operation[];
  /** How many records the staff's list with these filters has, up to `countMax`. */
  readonly count: (
    context: OperationContext,
    filters: FilterValues,
    countMax: number,
  ) => Promise<number>;
  /** A record as answers show it to the caller. */
  readonly show: (context: OperationContext, row: ManagedRow) => Promise<Record<string, unknown>>;
  /** Changes a record as PATCH does, in a transaction. `body` must have passed the schema. @throws {ApiError} `not_found` */
  readonly change: (
    tx: Queryable,
    context: OperationContext,
    change: { readonly id: number; readonly body: Body },
  ) => Promise<ManagedRow>;
  /** Creates a record without a request. `values` is not checked, must include what `generated` would give, and has no sealed field. */
  readonly insert: (tx: Queryable, workspaceId: number, values: Body) => Promise<ManagedRow>;
};

/** The five operations of a managed resource. Use those that the resource has (schemas/contract/management.md). */
export function manage(managed: ManagedResource): ManagedOperations {
  assertHidden(managed);
  const Shown = shownSchema(managed.resource, {
    ...managed.readOnly,
    ...inOrderOfAnswers(managed.resource, { ...shownShape(managed.fields), ...managed.shown }),
  }).meta({ id: managed.names.one });
  const { setOnCreate = [], secret, derived, sealed } = managed;
  const table = new ManagedTable({
    table: managed.table,
    written: [...Object.keys(managed.fields), ...(derived?.columns ?? [])].filter(
      (name) => name !== sealed?.field,
    ),
    readOnly: [...Object.keys(managed.readOnly), ...(sealed === undefined ? [] : [sealed.field])],
    setOnCreate: secret === undefined ? setOnCreate : [...setOnCreate, secret.column],
    filters: managed.conditions,
    sorts: managed.sorts,
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
  const path = managed.hasCode !== undefined ? ReferencePath : IdPath;
  const bodyFields = bodyShape(managed.fields);
  const defaults: Body = unsetValues(managed.fields);
  const one = z.object({ data: Shown });
  const parts: Parts = { managed, table, bodyFields, defaults, Shown, path, one, show };
  return {
    Shown,
    list: listOperation(parts),
    get: getOperation(parts),
    create: createOperation(parts),
    createImported: createOperation({
      ...parts,
      bodyFields: { ...bodyFields, ...managed.imported },
    }),
    update: updateOperation(parts),
    remove: removeOperation(parts),
    rotate: secret === undefined ? [] : [rotateOperation(parts, secret)],
    count: async ({ db, workspace }, filters, countMax) =>
      await table.count(db, workspace.id, { filters, countMax }),
    show,
    change: async (tx, context, change) => await changeRecord(parts, tx, context, change),
    insert: async (tx, workspaceId, values) => {
      const all = { ...defaults, ...secretOf(managed), ...values };
      const row = await table.insert(tx, workspaceId, complete(managed, all));
      return sealed === undefined ? row : { ...row, [sealed.field]: defaults[sealed.field] };
    },
  };
}

/** The visibility table decides. A field that it shows to a role must not say that it is hidden from it. */
function assertHidden({ resource, fields }: ManagedResource): void {
  for (const [name, { hiddenFrom = [] }] of Object.entries(fields))
    for (const role of hiddenFrom)
      if (isShown(role, resource, name))
        throw new Error(`${resource}.${name} is shown to ${role}: see access/visibility-table.ts`);
}

function getOperation(parts: Parts): Operation {
  const { managed, path, one, show } = parts;
  return operation({
    name: `get${managed.names.one}`,
    method: "GET",
    path: `${managed.path}/{id}`,
    tag: tagOf(managed),
    summary: `Get ${withArticle(managed)}`,
    ...(managed.hasCode === undefined ? {} : { description: "By id or code." }),
    access: managed.read,
    input: { path },
    output: one,
    status: 200,
    findResource: finder(parts),
    run: async (context, { resource }) => ({ body: { data: await show(context, resource) } }),
  });
}

function listOperation({ managed, table, Shown, show }: Parts): Operation {
  const name = `list${managed.names.many}`;
  const sort =
    managed.sorts === undefined
      ? {}
      : { sort: sortParam("-created_at", "created_at", ...Object.keys(managed.sorts)) };
  return operation({
    name,
    method: "GET",
    path: managed.path,
    tag: tagOf(managed),
    summary: `List ${nounOf(managed)}s`,
    description: managed.descriptions?.list ?? "Newest first.",
    access: managed.read,
    input: { query: z.object({ ...managed.filters, ...sort, ...pageParams }) },
    output: z.object({ data: z.array(Shown), next_cursor: z.string().nullable() }),
    status: 200,
    run: async (context, { query }) => {
      const sorted = typeof query.sort === "string" ? query.sort : undefined;
      const page = openPage(context, name, { ...query, sort: sorted });
      const filters = managed.narrow?.(context.principal, page.filters) ?? page.filters;
      const rows = await table.list(context.db, context.workspace.id, { ...page, filters });
      const { data, next_cursor } = page.close(rows, {
        positionOf: (row) => positionIn(row, page.sort),
        show: (row) => show(context, opened(managed, context, row)),
      });
      return { body: { data: await Promise.all(data), next_cursor } };
    },
  });
}
