import { type Fault, type Finding, refuses } from "./finding.ts";

/** The incarnation that each store carries; undefined where it has none yet, or was not asked. */
export type Incarnations = {
  readonly postgres: string;
  readonly clickhouse?: string | undefined;
  /** Of each stream, by name. */
  readonly streams?: ReadonlyMap<string, string | undefined>;
};

/** I1: the stores belong to one installation, and none was restored without `tracker restored`. */
export function judgeIdentity({ postgres, clickhouse, streams }: Incarnations): Finding {
  const faults: Fault[] = [];
  const others: [string, string | undefined][] = [["ClickHouse", clickhouse]];
  for (const [name, incarnation] of streams ?? []) {
    others.push([`The NATS stream ${name}`, incarnation]);
  }
  for (const [store, incarnation] of others) {
    if (incarnation === undefined || incarnation === postgres) continue;
    faults.push(
      refuses(
        `${store} has the incarnation ${incarnation} and Postgres has ${postgres}, so they belong to different installations: correct the addresses of the servers, or run \`tracker restored\` if one of them was restored.`,
      ),
    );
  }
  return { check: "I1", faults };
}
