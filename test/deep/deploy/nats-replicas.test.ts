import { expect, test } from "vitest";
import { findingsOf } from "../../../schemas/checks/check.ts";
import type { Fault } from "../../../schemas/checks/finding.ts";
import { judgeNatsVersions } from "../../../schemas/checks/judge-nats.ts";
import { NATS_CHECKS } from "../../../schemas/checks/nats-checks.ts";
import { projectFile } from "../../../schemas/host/project-root.ts";
import { connectNats, type Nats } from "../../../schemas/nats/connect.ts";
import { STREAM_DEFAULTS, type StreamSettings } from "../../../schemas/nats/stream-settings.ts";
import { ensureStreams, type StreamLimits } from "../../../schemas/nats/streams.ts";
import { RELAXED } from "../../samples/durability.ts";
import { ChildServer } from "../../system/child-server.ts";
import { until } from "../../system/until.ts";
import { NatsCluster } from "./nats-cluster.ts";
import { NatsNode } from "./nats-node.ts";

const MIB = 1024 ** 2;
const GIB = 1024 ** 3;
const HELD_MS = 60_000;

/** What `migrate` with these settings leaves. */
async function migrated(
  servers: { readonly url: string; readonly caFile?: string },
  settings: Partial<StreamSettings> = {},
): Promise<StreamLimits> {
  const nats = await connected(servers, settings);
  try {
    const [stream] = await ensureStreams(nats);
    if (stream === undefined) throw new Error("no stream");
    const { replicas, hours, bytes, compression } = stream;
    return { replicas, hours, bytes, compression };
  } finally {
    await nats.connection.close();
  }
}

async function connected(
  { url, caFile }: { readonly url: string; readonly caFile?: string },
  settings: Partial<StreamSettings> = {},
): Promise<Nats> {
  const streams = { ...STREAM_DEFAULTS, ...settings };
  return await connectNats({ url, access: { caFile }, name: "test", prefix: "", streams });
}

async function trackerStreams(
  { url, caFile }: { readonly url: string; readonly caFile?: string },
  ...args: string[]
): Promise<{ readonly code: number | null; readonly output: string }> {
  const command = [process.execPath, projectFile(".build", "api", "tracker.js"), "streams"];
  const env = { NATS_URL: url, ...(caFile === undefined ? {} : { NATS_CA_FILE: caFile }) };
  const child = ChildServer.spawn([...command, ...args], env);
  const code = await child.ended;
  return { code, output: child.output };
}

test("on one server the stream has one copy; migrate lowers no hours or bytes and keeps the compression", async () => {
  await using node = await NatsNode.open();
  await node.start();
  const server = { url: node.urlOf("operator") };
  expect(await migrated(server)).toEqual({
    replicas: 1,
    hours: 72,
    bytes: 64 * GIB,
    compression: "s2",
  });
  expect((await trackerStreams(server, "set", "--compression", "none")).code).toBe(0);
  const more = { hours: 96, bytes: 65 * GIB } as const;
  expect(await migrated(server, more)).toEqual({ replicas: 1, ...more, compression: "none" });
  expect(await migrated(server, { hours: 24, bytes: MIB })).toMatchObject({
    hours: 96,
    bytes: 65 * GIB,
  });
  await expect(migrated(server, { bytes: 1024 * GIB })).rejects.toThrow(
    /NATS has no room for \d+ bytes of the stream CLICKS. Enlarge max_file_store of NATS, or set CLICKS_STREAM_BYTES lower/,
  );
  await expect(migrated(server, { replicas: 3 })).rejects.toThrow(/too few servers/);
});

test("streams set lowers only with --yes, and says what", async () => {
  await using node = await NatsNode.open();
  await node.start();
  const server = { url: node.urlOf("operator") };
  expect((await trackerStreams(server)).output).toContain("There is no stream CLICKS");
  await migrated(server, { bytes: GIB });
  const refused = await trackerStreams(server, "set", "--hours", "48", "--bytes", String(MIB));
  expect(refused.code).toBe(1);
  expect(refused.output).toContain(
    `Nothing was changed: this lowers hours from 72 to 48, bytes from ${GIB} to ${MIB}.`,
  );
  expect(await migrated(server)).toMatchObject({ hours: 72, bytes: GIB });
  expect((await trackerStreams(server, "set", "--hours", "48", "--yes")).code).toBe(0);
  const shown = await trackerStreams(server);
  expect(shown.output).toMatch(/Keeps +48 hours[\s\S]*of 1073741824 bytes[\s\S]*Compression +s2/);
  expect((await trackerStreams(server, "set", "--hours", "96")).code).toBe(0);
});

test("in a cluster of three the stream gets three copies, and no later migrate takes one away", async () => {
  await using cluster = await NatsCluster.open();
  await cluster.start();
  const all = { url: cluster.urlOf("operator"), caFile: cluster.ca };
  const [first] = all.url.split(",");
  const one = { url: first ?? "", caFile: cluster.ca };
  const small = { bytes: GIB } as const;
  // Three servers in the settings, and one of them away: three copies or none, but never fewer.
  await cluster.nodes[2]?.kill();
  const tried = await until(
    "the two others have a leader, which makes three copies or refuses",
    async () => await triedToMigrate(all, small),
    { timeoutMs: HELD_MS },
  );
  expect(tried).toMatch(/^3 copies$|too few servers/);
  await cluster.nodes[2]?.start();
  await until(
    "three copies are made",
    async () => (await triedToMigrate(all, small)) === "3 copies",
    { timeoutMs: HELD_MS },
  );
  // An `npm start` that shares the cluster and knows one of its servers migrates so.
  expect(await migrated(one, { ...small, replicas: 1 })).toMatchObject({ replicas: 3 });
  expect((await trackerStreams(all, "set", "--replicas", "1")).output).toContain(
    "this lowers copies from 3 to 1",
  );
  expect(await trackerStreams(all, "set", "--replicas", "1", "--yes")).toMatchObject({ code: 0 });
  expect(await migrated(one, { ...small, replicas: 1 })).toMatchObject({ replicas: 1 });
  expect(await migrated(all, small)).toMatchObject({ replicas: 3 });
  await until(
    "every copy is current",
    async () => /(\(current\)[\s\S]*){2}/.test((await trackerStreams(all)).output),
    { timeoutMs: HELD_MS },
  );
  await expectVersionsJudged(cluster);
});

test("a cluster that has only just started gets three copies with the largest limit of bytes", async () => {
  await using cluster = await NatsCluster.open();
  await cluster.begin();
  // Its leader does not know yet how much room the others have.
  const all = { url: cluster.urlOf("operator"), caFile: cluster.ca };
  const tried = await until("the leader answers", async () => await triedToMigrate(all, {}), {
    timeoutMs: HELD_MS,
  });
  expect(tried).toMatch(/^3 copies$|too few servers/);
  // Only a server that NATS has left out is a reason to refuse.
  expect(await cluster.isWhole()).toBe(tried === "3 copies");
  await cluster.untilWhole();
  expect(await migrated(all)).toMatchObject({ replicas: 3, bytes: 64 * GIB });
});

/** N3 judges each of the three servers as one of a cluster; without a user who may ask them, only the server that answers. */
async function expectVersionsJudged(cluster: NatsCluster): Promise<void> {
  const url = cluster.urlOf("operator");
  const access = { caFile: cluster.ca };
  const nats = await connected({ url, caFile: cluster.ca });
  const { version = "" } = nats.connection.info ?? {};
  await nats.connection.close();
  const judged = async (natsSystemUrl: string | undefined): Promise<readonly Fault[]> => {
    const address = { url, access, prefix: "", groups: 1 };
    const sources = { durability: { ...RELAXED, natsSystemUrl }, nats: address };
    const findings = await findingsOf(NATS_CHECKS, sources, 60_000);
    return findings.find(({ check }) => check.id === "N3")?.faults ?? [];
  };
  const names = ["tracker-1", "tracker-2", "tracker-3"];
  const expected = judgeNatsVersions(
    names.map((name) => ({ id: name, name, version })),
    3,
  ).faults;
  const sentences = (await judged(cluster.urlOf("sys"))).map(({ sentence }) => sentence);
  expect(sentences.toSorted()).toEqual(expected.map(({ sentence }) => sentence));
  const alone = await judged(undefined);
  expect(alone).toHaveLength(Math.min(expected.length, 1));
  expect(expected).toEqual(expect.arrayContaining([...alone]));
}

/** How many copies `migrate` leaves, or its sentence. Undefined while the cluster has no leader. */
async function triedToMigrate(
  servers: { readonly url: string; readonly caFile?: string },
  settings: Partial<StreamSettings>,
): Promise<string | undefined> {
  try {
    return `${(await migrated(servers, settings)).replicas} copies`;
  } catch (error) {
    const sentence = error instanceof Error ? error.message : String(error);
    return sentence.includes("does not answer") ? undefined : sentence;
  }
}
