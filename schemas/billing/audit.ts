import type { Pool, Queryable } from "../postgres/connect.ts";
import { inTransaction } from "../postgres/transaction.ts";
import { AUDIT_STATEMENTS, type Invariant } from "./audit-statements.ts";

export type Violation = {
  readonly invariant: Invariant;
  /** What does not hold: `account 12`, `conversion 018f…`, `statement 4`. */
  readonly subject: string;
  readonly expected: string;
  readonly found: string;
};

/** Of one invariant. More would say nothing new. */
const VIOLATIONS_MAX = 100;
/** Time of one invariant. The books of a million conversions take some seconds. */
const TIMEOUT_MS = 120_000;
const ANSWER_MS = TIMEOUT_MS + 5_000;

/**
 * Checks the books of a workspace (N42) and keeps what it found, which decides whether statements and payouts may be approved. All
 * invariants are judged by one snapshot, so that work under way is no violation.
 */
export async function auditBilling(db: Pool, workspaceId: number): Promise<readonly Violation[]> {
  const found = await inTransaction(db, async (tx) => {
    await tx.query({ text: "set transaction isolation level repeatable read, read only" });
    await tx.query({
      name: "limit-billing-audit",
      text: "select set_config('statement_timeout', $1::text, true)",
      values: [String(TIMEOUT_MS)],
    });
    return await findViolations(tx, workspaceId);
  });
  await db.query({
    name: "keep-billing-audit",
    text: `insert into billing_audit (workspace_id, audited_at, violations)
           values ($1, clock_timestamp(), $2)
           on conflict (workspace_id) do update set audited_at = excluded.audited_at, violations = excluded.violations`,
    values: [workspaceId, JSON.stringify(found)],
  });
  return found;
}

async function findViolations(tx: Queryable, workspaceId: number): Promise<Violation[]> {
  const violations: Violation[] = [];
  for (const { invariant, text } of AUDIT_STATEMENTS) {
    const { rows } = await tx.query<Omit<Violation, "invariant">>({
      name: `audit-billing-${invariant}`,
      text,
      values: [workspaceId, VIOLATIONS_MAX],
      answerMs: ANSWER_MS,
    });
    violations.push(...rows.map((row) => ({ invariant, ...row })));
  }
  return violations;
}
