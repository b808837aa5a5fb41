import { z } from "zod";
import { until } from "../system/until.ts";
import type { Stores } from "./stores.ts";

const Status = z.object({ ready: z.boolean(), catalog_version: z.number() });

/** Waits until the processes with these operations ports have applied the current catalog. */
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
        const answer = await fetch(`http://127.0.0.1:${port}/status`, { headers });
        const status = Status.parse(await answer.json());
        return status.ready && status.catalog_version >= newest;
      },
      { pollMs: 20 },
    );
  }
}

async function newestVersion(stores: Pick<Stores, "rows">): Promise<number> {
  const [newest] = await stores.rows<{ version: number | string }>(
    "select max(version) as version from catalog_entry",
  );
  return Number(newest?.version ?? 0);
}
