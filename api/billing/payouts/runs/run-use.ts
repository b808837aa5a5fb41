import type { Queryable } from "../../../../schemas/postgres/connect.ts";

/** What has happened with an approved run outside of this service. */
export async function findRunUse(
  db: Queryable,
  runId: number,
): Promise<{ readonly has_results: boolean; readonly has_files: boolean }> {
  const { rows } = await db.query<{ has_results: boolean; has_files: boolean }>({
    name: "find-use-of-payout-run",
    text: `select exists (select from payout_result s join payout_line l on l.id = s.line_id where l.run_id = $1) as has_results,
             exists (select from billing_file where owner_kind = 'payout_run' and owner_id = $1) as has_files`,
    values: [runId],
  });
  return rows[0] ?? { has_results: true, has_files: true };
}
