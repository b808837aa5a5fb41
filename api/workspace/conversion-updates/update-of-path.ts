import { notFound } from "../../operation/errors.ts";
import type { OperationContext } from "../../operation/operation.ts";
import { findUpdate, type StoredUpdate } from "./stored-update.ts";

/** @throws {ApiError} `not_found` */
export async function getUpdate(
  { db, workspace }: OperationContext,
  id: number,
): Promise<StoredUpdate> {
  const found = await findUpdate(db, workspace.id, id);
  if (found === undefined) throw notFound("update");
  return found;
}
