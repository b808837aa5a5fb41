import { rollupDifferences } from "../../reports/rollup-differences.ts";
import { type AuditContext, type Finding, found } from "./check.ts";

/** The sums that reports read agree with the rows they were made from. Reads both tables once for each rollup. */
export async function auditRollups({ stores, terminal }: AuditContext): Promise<Finding> {
  const { compared, differing } = await rollupDifferences(stores.clickhouse, (name) =>
    terminal.report(`rollups: ${name}`),
  );
  return found(
    `${compared} rollups`,
    differing.map(
      (name) =>
        `${name} differs from its rows. Run \`alter table … clear projection\` and \`materialize projection\` for it in ClickHouse.`,
    ),
  );
}
