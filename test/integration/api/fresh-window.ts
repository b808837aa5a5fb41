import { expect } from "vitest";
import type { ApiWorld } from "./api-world.ts";

/** The windows of budgets are minutes of the database: what needs one whole begins with a fresh one that has time left. */
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
