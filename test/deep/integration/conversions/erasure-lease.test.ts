import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { withErasureLease } from "../../../../schemas/erasure/erasure-lease.ts";
import { repeatDueErasure } from "../../../../schemas/erasure/erasures.ts";
import { projectFile } from "../../../../schemas/host/project-root.ts";
import { openPool, type Pool, type Queryable } from "../../../../schemas/postgres/connect.ts";
import { TrackingWorld } from "../../../integration/conversions/tracking-world.ts";
import { forThisFile } from "../../../services/for-this-file.ts";
import { until } from "../../../system/until.ts";

/** A killed erasure delays the next one for 30 s at most. */
const LEASE = { timeoutMs: 90_000, pollMs: 500 };
const SOON = { timeoutMs: 90_000, pollMs: 20 };

const world = await forThisFile(TrackingWorld.open());
world.startWriters();
const [workspace] = await world.rows<{ slug: string }>("select slug from workspace");
const slug = workspace?.slug ?? "";

/** Runs the command as its own process. */
function eraseByProcess(clickId: string): {
  child: ChildProcess;
  ended: Promise<{ code: number | null; output: string }>;
} {
  const args = ["person", "erase", "--workspace", slug, "--click", clickId];
  const child = spawn(process.execPath, [projectFile(".build", "api", "tracker.js"), ...args], {
    env: { ...process.env, ...world.env, DATA_DIR: "/nowhere" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.on("data", (chunk: Buffer) => {
      output += chunk.toString();
    });
  return { child, ended: once(child, "close").then(() => ({ code: child.exitCode, output })) };
}

async function aConversion(email: string) {
  const offerId = await world.addOffer();
  const click = await world.addClick({ offer_id: offerId, ip: "198.51.100.23", gclid: email });
  const { body } = await world.report({ click_id: click.click_id, email });
  return { clickId: click.click_id, id: String(body["conversion_id"]) };
}

/** Whether a statement of an erasure waits for a lock. */
async function isErasureWaiting(): Promise<boolean> {
  const waiting = await world.rows(
    `select pid from pg_stat_activity
     where datname = current_database() and wait_event_type = 'Lock' and query like 'update conversion%'`,
  );
  return waiting.length > 0;
}

test("one process erases at a time, and a killed erasure is completed later (#19, G207)", async () => {
  const [first, second] = [
    await aConversion("a@shop.example"),
    await aConversion("b@shop.example"),
  ];
  const lock = await world.pool.connect();
  try {
    await lock.query({ text: "begin" });
    await lock.query({ text: "lock table conversion in share mode" });
    const killed = eraseByProcess(first.clickId);
    await until("the erasure is in the middle", isErasureWaiting, SOON);
    // A wait for a lock ends after 2 s. On a busy machine the second process starts later, and must find the first one still under way.
    killed.child.kill("SIGSTOP");
    const refused = await eraseByProcess(second.clickId).ended;
    expect(refused.code).not.toBe(0);
    expect(refused.output).toContain("another erasure is under way");
    killed.child.kill("SIGKILL");
    await killed.ended;
  } finally {
    await lock.query({ text: "rollback" });
    lock.release();
  }
  await until(
    "the next process may erase",
    async () => (await eraseByProcess(second.clickId).ended).code === 0,
    LEASE,
  );
  expect(await world.conversion(second.id)).toMatchObject({ conv_ip: null, email_hash: null });
  await until(
    "a repeat completes the killed erasure",
    async () => {
      await repeatDueErasure({ db: world.pool, clickhouse: world.clickhouse });
      return (await world.conversion(first.id))["email_hash"] === null;
    },
    LEASE,
  );
}, 240_000);

/** Like a pooler in transaction mode: each statement outside a transaction may use another server connection. */
function pooledByTransaction(connections: readonly Pool[]): Queryable {
  let turn = 0;
  return {
    query: async (statement) => {
      turn += 1;
      const connection = connections[turn % connections.length];
      if (connection === undefined) throw new Error("no connection");
      return await connection.query(statement);
    },
  };
}

test("erasures take turns through a pooler in transaction mode: no session owns the lease (#19, G207)", async () => {
  const url = world.env.POSTGRES_URL;
  const connections = [0, 1, 2].map(() =>
    openPool({ url, applicationName: "test", connectionsMax: 1 }),
  );
  try {
    const pooled = pooledByTransaction(connections);
    let running = 0;
    let runningMax = 0;
    const attempt = async () =>
      await withErasureLease(pooled, async () => {
        running += 1;
        runningMax = Math.max(runningMax, running);
        await pooled.query({ text: "select 1" });
        running -= 1;
        return "done" as const;
      });
    // Leases are taken within a millisecond of each other, often enough to find an error by rounded times.
    for (let round = 0; round < 100; round += 1) {
      const outcomes = await Promise.all([attempt(), attempt(), attempt(), attempt()]);
      expect(outcomes).toContain("done");
    }
    expect(runningMax).toBe(1);
    const failed = withErasureLease(pooled, async () => await Promise.reject(new Error("fault")));
    await expect(failed).rejects.toThrow("fault");
    expect(await attempt()).toBe("done");
    for (const connection of connections) {
      const { rows } = await connection.query<{ held: number }>({
        text: "select count(*) as held from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()",
      });
      expect(rows).toEqual([{ held: 0 }]);
    }
  } finally {
    await Promise.all(connections.map(async (connection) => await connection.end()));
  }
});
