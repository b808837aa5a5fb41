import { notFound } from "../../operation/errors.ts";
import type { OperationContext } from "../../operation/operation.ts";
import { visibleKinds } from "./imported-kinds.ts";
import { findImport, type ImportScope } from "./imports.ts";
import type { StoredImport } from "./stored-import.ts";

/** The imports that the caller sees. */
export function scopeOf({ principal, workspace }: OperationContext): ImportScope {
  return { workspaceId: workspace.id, kinds: visibleKinds(principal.permissions) };
}

/** @throws {ApiError} `not_found` */
export async function getImport(context: OperationContext, id: number): Promise<StoredImport> {
  const found = await findImport(context.db, scopeOf(context), id);
  if (found === undefined) throw notFound("import");
  return found;
}
