import { findStatement, type StatementRow } from "../../../schemas/billing/statements.ts";
import { notFound } from "../../operation/errors.ts";
import type { OperationContext } from "../../operation/operation.ts";
import { SHARED_STATUSES } from "./statement-fields.ts";

const SHARED: ReadonlySet<string> = new Set(SHARED_STATUSES);

/** A statement that the caller sees: the staff all, a partner its own from approval on. @throws {ApiError} `not_found`. */
export async function findShownStatement(
  { db, workspace, principal }: OperationContext,
  id: number,
): Promise<StatementRow> {
  const row = await findStatement(db, workspace.id, id);
  const isShown =
    principal.affiliate === null ||
    (row?.affiliate_id === principal.affiliate.id && SHARED.has(row.status));
  if (row === undefined || !isShown) throw notFound("statement");
  return row;
}
