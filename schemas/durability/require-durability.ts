import type { Lifetime } from "../host/lifetime.ts";
import type { Log } from "../host/log.ts";
import type { Metrics } from "../host/metrics.ts";
import type { CheckGroup } from "./check-group.ts";
import { DurabilityWatch } from "./durability-watch.ts";

/** How strict an installation is, as its settings say. */
export type DurabilitySettings = {
  readonly level: "relaxed" | "strict";
  /** One copy of each stream is enough: there is one host. */
  readonly singleSite: boolean;
  /** Standbys of Postgres that a commit must wait for. */
  readonly standbys: number;
  readonly natsSystemUrl: string | undefined;
  readonly natsMonitorUrls: readonly string[];
};

type Parts = { readonly log: Log; readonly metrics: Metrics; readonly lifetime: Lifetime };

/** Makes the checks of a strict process now and from then on; of a relaxed one, none. @throws {NotDurableError} */
export async function requireDurability(
  { level }: DurabilitySettings,
  groups: readonly CheckGroup[],
  { log, metrics, lifetime }: Parts,
): Promise<void> {
  if (level === "relaxed") return;
  const watch = new DurabilityWatch(groups, log, metrics);
  lifetime.own("durability", () => watch.close());
  await watch.start();
}
