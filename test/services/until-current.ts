import { z } from "zod";
import { until } from "../system/until.ts";
import type { Stores } from "./stores.ts";

const Health = z.object({ ok: z.boolean(), catalog_version: z.number() });

/** Waits until the processes at these ports have applied the current catalog. */
export async function untilCurrent(
  stores: Pick<Stores, "rows">,
  ports: readonly number[],
): Promise<void> {
  const newest = await newestVersion(stores);
  for (const port of ports) {
    await until(
      `the process at port ${port} has applied the newest catalog`,
      async () => {
        // An idle connection would delay the end of the process.
        const headers = { connection: "close" };
        const answer = await fetch(`http://127.0.0.1:${port}/health`, { headers });
        const health = Health.parse(await answer.json());
        return health.ok && health.catalog_version >= newest;
      },
      { timeoutMs: 30_000, pollMs: 20 },
    );
  }
}

export async function newestVersion(stores: Pick<Stores, "rows">): Promise<number> {
  const [newest] = await stores.rows<{ version: number | string }>(
    "select max(version) as version from catalog_entry",
  );
  return Number(newest?.version ?? 0);
}
