import { DiscardPolicy } from "@nats-io/jetstream";
import { expect, test, vi } from "vitest";
import { findingsOf } from "../../../schemas/checks/check.ts";
import { NATS_CHECKS } from "../../../schemas/checks/nats-checks.ts";
import { projectFile } from "../../../schemas/host/project-root.ts";
import { connectNats, type Nats } from "../../../schemas/nats/connect.ts";
import { permissionsFile } from "../../../schemas/nats/permissions-file.ts";
import { readStreamIdentities } from "../../../schemas/nats/stream-identity.ts";
import { STREAM_DEFAULTS } from "../../../schemas/nats/stream-settings.ts";
import { ensureStreams } from "../../../schemas/nats/streams.ts";
import { RELAXED } from "../../samples/durability.ts";
import { ChildServer } from "../../system/child-server.ts";
import { OwnServer } from "../../system/own-server.ts";
import { randomOf, SEED } from "../../system/seed.ts";
import { readDemo, ServiceClient } from "../../system/service.ts";
import { until } from "../../system/until.ts";
import { LaneTraffic, laneFaults, makeOffers, storedLaneClicks } from "./lane-traffic.ts";
import { NatsNode } from "./nats-node.ts";
import { TrackerInstance } from "./tracker-instance.ts";

vi.setConfig({ testTimeout: 300_000 });

const GIB = 1024 ** 3;
const OFFERS = 8;
const CLICKS = 300;
const PATIENCE = { timeoutMs: 120_000, pollMs: 200 };

async function connected(node: NatsNode, groups: number): Promise<Nats> {
  const streams = { ...STREAM_DEFAULTS, bytes: 4 * GIB };
  return await connectNats({
    url: node.urlOf("operator"),
    name: "test",
    prefix: "",
    groups,
    streams,
  });
}

async function ensured(node: NatsNode, groups: number): Promise<string[]> {
  const nats = await connected(node, groups);
  try {
    const streams = await ensureStreams(nats);
    return streams.map(({ name, bytes, hours }) => `${name} ${bytes} ${hours}`);
  } finally {
    await nats.connection.close();
  }
}

async function streamsOf(node: NatsNode): Promise<string[]> {
  const nats = await connected(node, 1);
  try {
    const manager = await nats.manager();
    const found: string[] = [];
    for await (const { config } of manager.streams.list())
      found.push(`${config.name} ${(config.subjects ?? []).slice(0, 3).join(" ")}`);
    return found.toSorted();
  } finally {
    await nats.connection.close();
  }
}

async function trackerStreams(node: NatsNode, ...args: string[]): Promise<string> {
  const command = [process.execPath, projectFile(".build", "api", "tracker.js"), "streams"];
  const env = { NATS_URL: node.urlOf("operator"), LANE_GROUPS: "4" };
  const child = ChildServer.spawn([...command, ...args], env);
  const code = await child.ended;
  return `${String(code)} ${child.output}`;
}

test("four lane groups are four streams, each with its share, and no setting moves a lane to another", async () => {
  await using node = await NatsNode.open();
  await node.start();
  const four = [0, 1, 2, 3].map((group) => `CLICKS_${group} ${GIB} 72`);
  expect(await ensured(node, 4)).toEqual(four);
  expect(await ensured(node, 4)).toEqual(four);
  const made = await streamsOf(node);
  expect(made).toEqual([
    "CLICKS_0 clicks.0 clicks.4 clicks.8",
    "CLICKS_1 clicks.1 clicks.5 clicks.9",
    "CLICKS_2 clicks.2 clicks.6 clicks.10",
    "CLICKS_3 clicks.3 clicks.7 clicks.11",
  ]);
  for (const groups of [1, 2, 8]) {
    await expect(ensured(node, groups)).rejects.toThrow(
      "they were made with another LANE_GROUPS, which must stay. Set LANE_GROUPS as it was.",
    );
  }
  expect(await streamsOf(node)).toEqual(made);

  expect(await trackerStreams(node, "set", "--hours", "96")).toMatch(
    /^0 (.*Keeps +96 hours.*){4}/s,
  );
  expect(await trackerStreams(node, "set", "--bytes", String(2 * GIB))).toContain(
    `lowers bytes from ${GIB} to ${GIB / 2}`,
  );
  expect(await trackerStreams(node, "permissions")).toContain(
    permissionsFile(
      { prefix: "", groups: 4 },
      "Written by `tracker streams permissions`.",
    ).trimEnd(),
  );
  const nats = await connected(node, 4);
  const manager = await nats.manager();
  await manager.streams.delete("CLICKS_2");
  await nats.connection.close();
  expect(await trackerStreams(node)).toContain("There is no stream CLICKS_2");
  const address = { url: node.urlOf("operator"), prefix: "", groups: 4 };
  const sources = { durability: { ...RELAXED, singleSite: true }, nats: address };
  const findings = await findingsOf(NATS_CHECKS, sources, 60_000);
  const faults = findings.find(({ check }) => check.id === "N2")?.faults ?? [];
  expect(faults.map(({ sentence }) => sentence)).toEqual([
    "The NATS stream CLICKS_2 does not exist: run `tracker migrate`.",
  ]);
});

test("an existing single stream is not divided, and says so", async () => {
  await using node = await NatsNode.open();
  await node.start();
  expect(await ensured(node, 1)).toEqual([`CLICKS ${4 * GIB} 72`]);
  await expect(ensured(node, 2)).rejects.toThrow(
    "The stream CLICKS_0 of LANE_GROUPS=2 does not fit the streams that NATS has",
  );
  expect(await streamsOf(node)).toEqual(["CLICKS clicks.*"]);
});

test("with two lane groups a stream that refuses clicks, or is deleted, stops only its own lanes", async () => {
  await using postgres = await OwnServer.open("postgres");
  await using clickhouse = await OwnServer.open("clickhouse");
  const permissions = permissionsFile({ prefix: "", groups: 2 }, "of a test");
  await using node = await NatsNode.open({ permissions });
  await node.start();
  await using tracker = await TrackerInstance.open(
    { postgres: postgres.url, clickhouse: clickhouse.url, nats: (user) => node.urlOf(user) },
    { env: { LANE_GROUPS: "2" } },
  );
  await tracker.prepare();
  await tracker.start();
  const client = new ServiceClient(await readDemo(tracker.dataDir));
  const offers = await makeOffers(client, OFFERS);
  const traffic = new LaneTraffic(client, offers, randomOf(SEED));
  for (const offer of offers)
    await until(
      "the offer is known",
      async () => (await traffic.click(offer, 0)) !== undefined,
      PATIENCE,
    );
  const even = offers.filter(({ id }) => id % 2 === 0);
  const stored = async (): Promise<number> =>
    (await storedLaneClicks(clickhouse.url, offers)).length;
  const nats = await connected(node, 2);
  const manager = await nats.manager();

  traffic.start(2, 5);
  await until("clicks are stored", async () => (await stored()) > 50, PATIENCE);
  // Full, and made to refuse instead of dropping its oldest.
  const { config } = await manager.streams.info("CLICKS_1");
  await manager.streams.update("CLICKS_1", { ...config, discard: DiscardPolicy.New, max_msgs: 1 });
  const answered = traffic.answered.length;
  const isEven = (id: number): boolean => even.some((offer) => offer.id === id);
  await until(
    "clicks of the other group are answered and stored",
    async () => {
      const later = traffic.answered.slice(answered).filter(({ offer }) => isEven(offer.id));
      const ids = new Set(
        (await storedLaneClicks(clickhouse.url, even)).map((one) => one.click_id),
      );
      return later.filter(({ clickId }) => ids.has(clickId)).length >= CLICKS;
    },
    PATIENCE,
  );
  await manager.streams.update("CLICKS_1", { ...config, discard: DiscardPolicy.Old, max_msgs: -1 });
  const waiting = new Set(traffic.answered.map(({ clickId }) => clickId));
  await until(
    "the clicks that waited are stored",
    async () => {
      for (const one of await storedLaneClicks(clickhouse.url, offers))
        waiting.delete(one.click_id);
      return waiting.size === 0;
    },
    PATIENCE,
  );

  await manager.streams.delete("CLICKS_1");
  const before = traffic.answered.length;
  await until("more clicks", () => traffic.answered.length >= before + CLICKS, PATIENCE);
  await traffic.stop();
  await until("all are stored", async () => (await stored()) >= traffic.answered.length, PATIENCE);
  expect(
    laneFaults(traffic, await storedLaneClicks(clickhouse.url, offers)),
    `seed ${SEED}`,
  ).toEqual([]);
  await until(
    "both streams have the mark of Postgres",
    async () => {
      const marks = await readStreamIdentities(nats);
      return (
        marks.length === 2 && marks.every((mark) => mark?.incarnation === marks[0]?.incarnation)
      );
    },
    PATIENCE,
  );
  await nats.connection.close();
  await client.close();
  expect(node.log).not.toMatch(/violation/i);
  expect(await tracker.run("status")).toMatch(/stream 0 R1.* stream 1 R1/s);
  const audited = await tracker.command("audit");
  expect(audited.output).toMatch(/CLICKS_0, CLICKS_1/);
});
