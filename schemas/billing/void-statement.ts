import type { Pool } from "../postgres/connect.ts";
import { inTransaction } from "../postgres/transaction.ts";
import { lockStatement } from "./approve-statement.ts";
import { lockBalance } from "./partner-accounts.ts";
import { findStatement, type StatementRow } from "./statements.ts";

export type VoidResult =
  | { readonly outcome: "voided"; readonly row: StatementRow }
  | { readonly outcome: "missing" | "not_voidable" | "not_newest" };

/** Only the newest statement of an account may be made void, and only a draft or a carried one. Its period is free again (N49). */
export async function voidStatement(
  pool: Pool,
  workspaceId: number,
  id: number,
): Promise<VoidResult> {
  return await inTransaction(pool, async (tx): Promise<VoidResult> => {
    const status = await lockStatement(tx, workspaceId, id);
    const before = await findStatement(tx, workspaceId, id);
    if (status === undefined || before === undefined) return { outcome: "missing" };
    if (status !== "draft" && status !== "carried") return { outcome: "not_voidable" };
    await lockBalance(tx, before.account_id);
    const { rowCount } = await tx.query({
      name: "void-statement",
      text: `update statement s set status = 'void', voided_at = clock_timestamp()
             where s.id = $1 and not exists (
               select from statement n where n.account_id = s.account_id and n.status <> 'void' and n.id <> s.id
                 and (n.to_seq, n.period_to) > (s.to_seq, s.period_to))`,
      values: [id],
    });
    const row = await findStatement(tx, workspaceId, id);
    if (rowCount !== 1 || row === undefined) return { outcome: "not_newest" };
    return { outcome: "voided", row };
  });
}
