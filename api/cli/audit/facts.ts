import type { FactTable } from "../../../schemas/facts/fact-table.ts";
import type { FactDifference } from "../../../schemas/facts/find-differences.ts";
import { deleteGhosts, resendFacts } from "../../../schemas/facts/repair-facts.ts";
import type { AuditContext, Finding } from "./check.ts";
import { found } from "./check.ts";
import { type AuditedDay, type Comparison, compareFacts } from "./compare-facts.ts";

export type FactsAudit = {
  readonly finding: Finding;
  readonly before: Comparison;
  /** The same as `before` without a repair. */
  readonly remaining: Comparison;
};

/** ClickHouse has each conversion and ad cost of Postgres as it is, and no other. */
export async function auditFacts(context: AuditContext): Promise<FactsAudit> {
  const { stores, scope, signal } = context;
  const bounds = { sinceMs: scope.sinceMs, signal };
  const before = await compareFacts(stores, bounds, async (facts, differences) => {
    if (scope.isRepair) await repairSome(context, facts, differences);
  });
  const remaining =
    scope.isRepair && before.days.length > 0
      ? await compareFacts(stores, bounds, async () => await Promise.resolve())
      : before;
  return { finding: findingOf(before, remaining, scope.isRepair), before, remaining };
}

async function repairSome(
  { stores, terminal }: AuditContext,
  facts: FactTable,
  differences: readonly FactDifference[],
): Promise<void> {
  for (const { kind, key, clickhouse, workspaceId } of differences) {
    if (kind !== "ghost") continue;
    const money = facts.money.map((column, index) => `${column} ${clickhouse?.money[index] ?? ""}`);
    terminal.report(
      `ghost ${key.id} of ${facts.name}, workspace ${workspaceId}, ${new Date(key.atMs).toISOString()}: ` +
        `${money.join(", ")} ${clickhouse?.currency ?? ""}`,
    );
  }
  await resendFacts(stores.db, facts, differences);
  await deleteGhosts(stores, facts, differences);
}

function findingOf(before: Comparison, remaining: Comparison, isRepair: boolean): Finding {
  const [was, is] = [countOf(before.days), countOf(remaining.days)];
  const details = remaining.waiting.map(
    (name) =>
      `Changes of ${name} still wait in Postgres after a minute. Start a process with the role "facts", then run the audit again.`,
  );
  if (is > 0) {
    details.push(
      isRepair
        ? `${was} records differed, ${is} still do.`
        : `${is} records differ. \`tracker audit --repair\` repairs them.`,
    );
  }
  return found(was > is ? `${was - is} records repaired` : "conversions and ad costs", details);
}

function countOf(days: readonly AuditedDay[]): number {
  return days
    .flatMap(({ differences }) => Object.values(differences))
    .reduce((sum, count) => sum + count, 0);
}
