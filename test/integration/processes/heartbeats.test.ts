import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { buildInfo } from "../../../schemas/host/build-info.ts";
import type { ProcessIdentity } from "../../../schemas/host/ops-server.ts";
import {
  forgetOldProcesses,
  Heartbeat,
  type KnownProcess,
  readHeartbeats,
} from "../../../schemas/installation/heartbeat.ts";
import { openPool } from "../../../schemas/postgres/connect.ts";
import { knownSchema } from "../../../schemas/versions/migration-files.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { openStores, Stores, testLog } from "../../services/stores.ts";
import { TcpGate } from "../../system/tcp-gate.ts";
import { until } from "../../system/until.ts";

const WAIT = { timeoutMs: 90_000, pollMs: 20 };

const stores = await forThisFile(
  openStores({ label: "heartbeats" }).then((open) => new Stores(open)),
);
const { pool } = stores;
const log = testLog();

function identity(name: string, role: ProcessIdentity["role"] = "api"): ProcessIdentity {
  const startedAtMs = Date.now() - 60_000;
  return { id: randomUUID(), role, name, host: "host-1", opsPort: 9_441, startedAtMs };
}

/** A process that has just started. */
function newcomer(name: string): ProcessIdentity {
  return { ...identity(name), startedAtMs: Date.now() };
}

async function rowOf({ id }: ProcessIdentity): Promise<KnownProcess | undefined> {
  return (await readHeartbeats(pool)).find((known) => known.id === id);
}

async function untilSeen(process: ProcessIdentity): Promise<KnownProcess> {
  return await until(`${process.name} has a row`, async () => await rowOf(process), WAIT);
}

test("a process has a row with its release while it runs, and none after an orderly end", async () => {
  const process = identity("api-1");
  const heartbeat = Heartbeat.start({ db: pool, process, log, everyMs: 20 });
  const first = await untilSeen(process);
  const [installation] = await stores.rows<{ incarnation: string }>(
    "select incarnation from installation",
  );
  const { startedAtMs, ...identified } = process;
  expect(Math.abs(Date.parse(first.startedAt) - startedAtMs)).toBeLessThan(10_000);
  expect(first).toMatchObject({
    ...identified,
    ...buildInfo(),
    ...installation,
    schemaVersion: knownSchema().postgres,
  });
  expect(first.ageSeconds).toBeLessThan(10);
  await until(
    "a later beat is in the row, with the same start",
    async () => {
      const later = await rowOf(process);
      return (
        later !== undefined &&
        later.lastSeenAt > first.lastSeenAt &&
        later.startedAt === first.startedAt
      );
    },
    WAIT,
  );
  await heartbeat.close();
  expect(await rowOf(process)).toBeUndefined();
});

test("a killed process keeps its row until its successor on the same host and port starts", async () => {
  const [killed, other] = [identity("api-2"), identity("api-3")];
  // The row of a killed process is one that nobody updates and nobody deletes.
  const beats = [killed, other].map((process) =>
    Heartbeat.start({ db: pool, process, log, everyMs: 3_600_000 }),
  );
  await untilSeen(killed);
  await untilSeen(other);
  const successor = newcomer("api-2");
  beats.push(Heartbeat.start({ db: pool, process: successor, log, everyMs: 20 }));
  await untilSeen(successor);
  await silence(killed);
  await silence(other);
  await until("its row is gone", async () => (await rowOf(killed)) === undefined, WAIT);
  expect(await rowOf(other)).toBeDefined();
  await Promise.all(beats.map((beat) => beat.close()));
});

/** As if the process had missed a beat. */
async function silence({ id }: ProcessIdentity): Promise<void> {
  await pool.query({
    text: "update system_process set last_seen_at = clock_timestamp() - interval '16 seconds' where process_id = $1",
    values: [id],
  });
}

test("processes of one name on two machines with one host name keep a row each (G263)", async () => {
  const twins = [newcomer("api-9441"), newcomer("api-9441")];
  const beats = twins.map((process) => Heartbeat.start({ db: pool, process, log, everyMs: 5 }));
  await Promise.all(twins.map(untilSeen));
  const seen = new Set<string | undefined>();
  await until(
    "both have beaten several times",
    async () => {
      for (const row of await Promise.all(twins.map(rowOf))) seen.add(row?.lastSeenAt);
      return seen.size > 20;
    },
    WAIT,
  );
  // At no look was one of them without a row.
  expect([...seen]).not.toContain(undefined);
  await Promise.all(beats.map((beat) => beat.close()));
});

test("a process without Postgres runs on, and has its row again when Postgres is back (P2)", async () => {
  const gate = await TcpGate.open(stores.database.postgresUrl);
  const db = openPool({ url: gate.urlOf(stores.database.postgresUrl), applicationName: "test" });
  const process = identity("processors-1", "processors");
  const heartbeat = Heartbeat.start({ db, process, log, everyMs: 20 });
  await untilSeen(process);
  await gate.shut();
  await pool.query({
    text: "delete from system_process where process_id = $1",
    values: [process.id],
  });
  expect(await rowOf(process)).toBeUndefined();
  await gate.open();
  await untilSeen(process);
  await heartbeat.close();
  await db.end();
  await gate.shut();
});

test("rows that are older than a week are deleted, and younger ones stay", async () => {
  const [old, young] = [identity("ingress-1", "ingress"), identity("ingress-2", "ingress")];
  const beats = [old, young].map((process) =>
    Heartbeat.start({ db: pool, process, log, everyMs: 3_600_000 }),
  );
  await untilSeen(old);
  await untilSeen(young);
  await pool.query({
    text: "update system_process set last_seen_at = now() - interval '169 hours' where process_id = $1",
    values: [old.id],
  });
  await pool.query({
    text: "update system_process set last_seen_at = now() - interval '167 hours' where process_id = $1",
    values: [young.id],
  });
  expect(Math.round((await rowOf(old))?.ageSeconds ?? 0)).toBe(169 * 3_600);
  expect(await forgetOldProcesses(pool)).toBe(1);
  expect(await rowOf(old)).toBeUndefined();
  expect(await rowOf(young)).toBeDefined();
  await Promise.all(beats.map((beat) => beat.close()));
});
