import type { Queryable } from "../../schemas/postgres/connect.ts";
import type { OperationContext } from "../operation/operation.ts";
import type { Body, ManagedResource } from "./managed-resource.ts";
import type { ManagedRow, ManagedTable } from "./managed-table.ts";

type Sealing = Pick<ManagedResource, "sealed">;

/** A row as it is answered, from a row as it is stored. */
export function opened(
  { sealed }: Sealing,
  { secretKeys }: OperationContext,
  row: ManagedRow,
): ManagedRow {
  if (sealed === undefined) return row;
  const { field } = sealed;
  return { ...row, [field]: sealed.open(secretKeys, row.id, row[field]) };
}

/** Stores the sealed field of a row that this transaction has just written. Answers the row with it. */
export async function writeSealed(
  { managed: { sealed }, table }: { readonly managed: Sealing; readonly table: ManagedTable },
  tx: Queryable,
  { workspace, secretKeys }: OperationContext,
  { id, values }: { readonly id: number; readonly values: Body },
): Promise<ManagedRow | undefined> {
  if (sealed === undefined) return undefined;
  const { field } = sealed;
  const value = sealed.seal(secretKeys, id, values[field]);
  return await table.setSealed(tx, workspace.id, { id, column: field, value });
}
