import { expect } from "vitest";
import type { ApiWorld } from "./api-world.ts";

/** Rate limits count per minute of the database's clock. Waits for the first 50 s of a minute and clears the counters. */
export async function freshWindow({ pool: db }: ApiWorld): Promise<void> {
  await expect
    .poll(
      async () => {
        const { rows } = await db.query<{ second: number }>({
          text: "select extract(second from now())::integer as second",
        });
        return rows[0]?.second ?? 60;
      },
      { timeout: 20_000, interval: 250 },
    )
    .toBeLessThan(50);
  await db.query({ text: "delete from rate_window" });
}
