import type { Clickhouse } from "../../../schemas/clickhouse/connect.ts";
import type { NodeDirectory } from "../../../schemas/clickhouse/node-directory.ts";
import type { Pool } from "../../../schemas/postgres/connect.ts";
import type { Terminal } from "../command.ts";

/** `unknown`: a server did not answer, so nobody can tell. */
export type Outcome = "equal" | "differs" | "unknown";

/** What one check of `tracker audit` found. */
export type Finding = {
  readonly outcome: Outcome;
  /** What was compared, in a few words. */
  readonly summary: string;
  /** One sentence for each difference: what, where, how much, and what to do. */
  readonly details: readonly string[];
};

export type AuditScope = {
  /** Checks that read rows read them from here on, UTC ms. */
  readonly sinceMs: number;
  readonly isDeep: boolean;
  readonly isRepair: boolean;
};

export type AuditStores = {
  readonly db: Pool;
  readonly clickhouse: Clickhouse;
  /** The nodes of a cluster; undefined for a server alone. */
  readonly clickhouseNodes: NodeDirectory | undefined;
};

export type AuditContext = {
  readonly stores: AuditStores;
  readonly scope: AuditScope;
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
};

function equal(summary: string): Finding {
  return { outcome: "equal", summary, details: [] };
}

/** `equal` without details. */
export function found(summary: string, details: readonly string[]): Finding {
  return details.length === 0 ? equal(summary) : { outcome: "differs", summary, details };
}
