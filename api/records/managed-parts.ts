import { z } from "zod";
import type { Queryable } from "../../schemas/postgres/connect.ts";
import { findByReference } from "../access/find-by-reference.ts";
import { pathId, reference } from "../http/path-fields.ts";
import type { Reference } from "../operation/codes.ts";
import { notFound } from "../operation/errors.ts";
import type { OperationContext } from "../operation/operation.ts";
import { type Body, type ManagedResource, nounOf } from "./managed-resource.ts";
import type { ManagedRow, ManagedTable } from "./managed-table.ts";
import { opened } from "./sealed-field.ts";

export const IdPath = z.object({ id: pathId });
export const ReferencePath = z.object({ id: reference });
type NamingPath = { readonly id: number | Reference };

export type Parts = {
  readonly managed: ManagedResource;
  readonly table: ManagedTable;
  /** Schemas of the fields that a body may have. */
  readonly bodyFields: z.ZodRawShape;
  /** Values of a new record whose body leaves fields out. */
  readonly defaults: Body;
  readonly Shown: z.ZodType;
  /** Schema of the path parameters that identify a record. */
  readonly path: z.ZodType<NamingPath>;
  /** Schema of an answer with one record. */
  readonly one: z.ZodType;
  readonly show: (context: OperationContext, row: ManagedRow) => Promise<Record<string, unknown>>;
};

/** Finds the record that a path names, as the key may see it. */
export function finder({ managed, table }: Parts) {
  return async (context: OperationContext, { id }: NamingPath): Promise<ManagedRow> => {
    const { db, workspace, principal } = context;
    const row =
      typeof id === "number"
        ? await table.find(db, workspace.id, id)
        : await findByReference(db, workspace.id, {
            kind: managed.hasCode ?? "affiliate",
            reference: id,
            find: async (asked) => await table.findByReference(db, workspace.id, asked),
          });
    if (row === undefined || (await managed.isVisible?.(db, principal, row)) === false)
      throw notFound(nounOf(managed));
    return opened(managed, context, row);
  };
}

/** The same for a write. */
export function writeFinder(parts: Parts) {
  const find = finder(parts);
  return async (context: OperationContext, path: NamingPath): Promise<ManagedRow> => {
    const row = await find(context, path);
    parts.managed.refuseWrite?.(context.principal, row);
    return row;
  };
}

/** The same, locked until the end of the transaction: since it was found it may have been deleted or moved to another account. */
export async function lockVisible(
  { managed, table }: Parts,
  tx: Queryable,
  context: OperationContext,
  id: number,
): Promise<ManagedRow> {
  const { workspace, principal } = context;
  const row = await table.lock(tx, workspace.id, id);
  if (row === undefined || (await managed.isVisible?.(tx, principal, row)) === false)
    throw notFound(nounOf(managed));
  managed.refuseWrite?.(principal, row);
  return opened(managed, context, row);
}

export function secretOf({ secret }: ManagedResource): Body {
  return secret === undefined ? {} : { [secret.column]: secret.mint() };
}

/** The values of a row together with the derived ones, without the sealed one, which is written by itself. */
export function complete({ derived, sealed }: ManagedResource, values: Body): Body {
  const all = { ...values, ...derived?.from(values) };
  return sealed === undefined ? all : { ...all, [sealed.field]: undefined };
}
