import { copyFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { openPool } from "../../../schemas/postgres/connect.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { until } from "../../system/until.ts";
import { contentOf, FeedWorld, offer, pointTo } from "./feed-world.ts";

const world = await forThisFile(FeedWorld.open());

test("a process that is killed within a second of a change starts with it while Postgres is away (P41)", async () => {
  const running = await world.follow("running");
  await world.change(offer("NEW", "new"), pointTo("A", "moved"));
  expect(await running.refresh()).toBe(true);
  const known = contentOf(running.catalog);
  expect(known["NEW"]).toContain("/new");
  const away = openPool({ url: "postgres://127.0.0.1:1/away", applicationName: "test" });
  try {
    let started: Record<string, string> = {};
    await until(
      "the copy has the change",
      async () => {
        // What is on disk at this moment is what a kill -9 would leave.
        await copyFile(world.copyPath("running"), world.copyPath("left"));
        started = contentOf((await world.follow("left", away)).catalog);
        return started["NEW"] !== undefined;
      },
      { timeoutMs: 1_000, pollMs: 50 },
    ).catch(() => undefined);
    expect(started).toEqual(known);
  } finally {
    await away.end();
  }
});
