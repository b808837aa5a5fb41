import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { startPostgres } from "../../../../deploy/local/embedded-postgres.ts";
import type { EmbeddedServer } from "../../../../deploy/local/embedded-server.ts";
import { pickPort } from "../../../../deploy/local/ports.ts";
import { contentOf, FeedWorld, pointTo } from "../../../integration/catalog/feed-world.ts";
import { runtimeDir, testReport } from "../../../services/servers.ts";

const TIMEOUT_MS = 120_000;

test("a restored data folder of Postgres is followed at once (#6, G206)", {
  timeout: TIMEOUT_MS,
}, async () => {
  const bind = "127.0.0.1";
  const dataDir = await mkdtemp(join(tmpdir(), "tracker-restored-"));
  const port = await pickPort(bind);
  const start = (): Promise<EmbeddedServer> =>
    startPostgres({ dataDir, runtimeDir: runtimeDir(), bind, port, report: testReport() });
  let server = await start();
  const world = await FeedWorld.open(server.url);
  try {
    const running = await world.follow("running");
    const ended = await world.follow("ended");
    await server.stop();
    await copy(join(dataDir, "postgres"), join(dataDir, "backup"));
    server = await start();
    await world.change(pointTo("A", "lost"), pointTo("B", "lost"));
    expect(await running.refresh()).toBe(true);
    expect(await ended.refresh()).toBe(true);
    await ended.feed.close();
    await server.stop();
    await rm(join(dataDir, "postgres"), { recursive: true });
    await copy(join(dataDir, "backup"), join(dataDir, "postgres"));
    server = await start();
    await world.change(pointTo("B", "new"));
    for (const follower of [running, await world.follow("ended")]) {
      expect(await follower.refresh()).toBe(true);
      expect(contentOf(follower.catalog)).toEqual({
        A: "https://shop.example/a approved",
        B: "https://shop.example/new pending",
      });
      expect(follower.metric("catalog_rewinds_total")).toBe(1);
    }
  } finally {
    await world.close();
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
});

/** Copies with owner and modes: Postgres refuses a folder that others may read. */
async function copy(from: string, to: string): Promise<void> {
  await promisify(execFile)("cp", ["-a", from, to]);
}
