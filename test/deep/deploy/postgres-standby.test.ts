import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openPool } from "../../../schemas/postgres/connect.ts";
import { PostgresMember } from "../../system/postgres-pair.ts";
import { until } from "../../system/until.ts";

const WAIT = { timeoutMs: 90_000 };

test("with primary.conf a commit waits until a server with standby.conf has it", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tracker-standby-"));
  // Postgres runs as another user when the test runs as root.
  chmodSync(folder, 0o711);
  const primary = await PostgresMember.open(join(folder, "primary"));
  const standby = await PostgresMember.open(join(folder, "standby"));
  await primary.startAsPrimary();
  const pool = openPool({ url: primary.url, applicationName: "test" });
  try {
    let isCommitted = false;
    const commit = pool.query({ text: "create table kept (id int)" }).then(() => {
      isCommitted = true;
    });
    const text = "select 1 from pg_stat_activity where wait_event = 'SyncRep'";
    await until("it waits", async () => (await pool.query({ text })).rowCount === 1, WAIT);
    expect(isCommitted).toBe(false);
    await standby.startAsStandbyOf(primary);
    await commit;
    await primary.kill();
    await standby.promote();
    expect(await hasTable(standby)).toBe(true);
  } finally {
    await pool.end();
    await Promise.all([primary.stop(), standby.stop()]);
    rmSync(folder, { recursive: true, force: true });
  }
});

async function hasTable({ url }: PostgresMember): Promise<boolean> {
  const pool = openPool({ url, applicationName: "test" });
  try {
    const text = "select 1 where to_regclass('kept') is not null";
    return (await pool.query({ text })).rowCount === 1;
  } finally {
    await pool.end();
  }
}
