import { pause } from "../../schemas/host/pause.ts";
import type { Queryable } from "../../schemas/postgres/connect.ts";
import type { RoleDeps } from "../role-deps.ts";

const READ_MS = 60_000;

/** Shows what the last audits found, whoever ran them, until `signal` is aborted. */
export async function showViolations(
  { pool, metrics, log }: Pick<RoleDeps, "pool" | "metrics" | "log">,
  signal: AbortSignal,
): Promise<void> {
  let violations: number | undefined;
  metrics.gauge("ledger_violations", () => violations);
  while (!signal.aborted) {
    try {
      violations = await countViolations(pool);
    } catch (error) {
      violations = undefined;
      log.debug({ err: error }, "ledger.violations-unknown");
    }
    await pause(READ_MS, signal);
  }
}

async function countViolations(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ violations: number }>({
    name: "count-billing-violations",
    text: "select coalesce(sum(jsonb_array_length(violations)), 0)::integer as violations from billing_audit",
  });
  return rows[0]?.violations ?? 0;
}
