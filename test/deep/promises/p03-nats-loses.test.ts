import { rm, stat, truncate } from "node:fs/promises";
import { expect, type TestContext, test } from "vitest";
import { IS_FULL, reportCases } from "../../promises/report-cases.ts";
import { ClickLoad, loadDifferences } from "../../system/click-load.ts";
import { ClickStream } from "../../system/click-stream.ts";
import { OwnServer } from "../../system/own-server.ts";
import { keepDown } from "../../system/processes.ts";
import { randomOf, SEED } from "../../system/seed.ts";
import { serversOf } from "../../system/servers-of.ts";
import { type System, startSystem } from "../../system/start-system.ts";
import { storedClicks } from "../../system/stored-clicks.ts";
import { blocksOf, flipBytes } from "../../system/stream-blocks.ts";
import { until } from "../../system/until.ts";

const ROUNDS = IS_FULL ? 10 : 1;
/** Clicks that JetStream has acknowledged, but no writer has read, when it loses them. */
const ACKNOWLEDGED = IS_FULL ? 3_000 : 150;
const CLICKS_PER_SECOND = IS_FULL ? 1_000 : 100;
const STORED_MS = 180_000;
const FLIPPED_BYTES = 20;

const random = randomOf(SEED);

/** Damage to the files of a killed NATS server. */
const LOSSES: Readonly<Record<string, (nats: OwnServer) => Promise<void>>> = {
  "its store is wiped": async (nats) => {
    await rm(nats.folder, { recursive: true });
  },
  "an older store is put back": async (nats) => {
    await nats.restore("older");
  },
  "its newest block is cut off": async (nats) => {
    const block = (await blocksOf(nats.folder)).at(-1) ?? "";
    await truncate(block, Math.floor((await stat(block)).size * random()));
  },
  "bytes of its blocks are flipped": async (nats) => {
    await flipBytes(nats.folder, FLIPPED_BYTES, random);
  },
};

/** In CI one system suffers all losses, because its start takes longer than a loss. In the full run each loss has a system of its own. */
const SYSTEMS: readonly (readonly [title: string, losses: readonly string[]])[] = IS_FULL
  ? Object.keys(LOSSES).map((loss) => [loss, [loss]])
  : [["each loss after the other", Object.keys(LOSSES)]];

test.for(SYSTEMS)(
  "no answered click is lost or doubled when NATS loses acknowledged data: %s (P3, #24)",
  async ([, losses], context) => {
    await using nats = await OwnServer.open("nats");
    await using system = await startSystem({ env: { NATS_URL: nats.url } });
    for (const loss of losses) await expectNothingLost(loss, { system, nats, context });
  },
);

/** Compares the clicks of this loss before it returns, because the repair of a later loss could ship what this loss took. */
async function expectNothingLost(
  loss: string,
  on: { readonly system: System; readonly nats: OwnServer; readonly context: TestContext },
): Promise<void> {
  const { system, nats, context } = on;
  const { clickhouse } = await serversOf(system);
  const load = new ClickLoad(system.client.demo.links.affiliate.replace(/\?.*/, ""));
  load.start(4, CLICKS_PER_SECOND);
  for (let round = 0; round < ROUNDS; round += 1) {
    await untilAnswered(load, ACKNOWLEDGED);
    await untilStreamExists(system.dataDir);
    await nats.kill();
    await nats.save("older");
    await nats.start();
    const startAgain = await keepDown(system, "processors");
    try {
      await untilAcknowledged(system.dataDir, load);
      await nats.kill();
      await LOSSES[loss]?.(nats);
      await nats.start();
    } finally {
      startAgain();
    }
  }
  await untilAnswered(load, ACKNOWLEDGED);
  await load.stop();
  let differences: string[] = ["not compared"];
  await until(
    "every answered click is stored once",
    async () => {
      differences = loadDifferences(load, await storedClicks(clickhouse, load.run));
      return differences.length === 0;
    },
    { timeoutMs: STORED_MS, pollMs: 500 },
  ).catch(() => undefined);
  reportCases(context, { cases: load.answered.size, violations: differences.length });
  expect(differences.slice(0, 10), `${loss}, of ${load.answered.size} answered`).toEqual([]);
}

async function untilAnswered(load: ClickLoad, more: number): Promise<void> {
  const before = load.answered.size;
  await until("more clicks are answered", () => load.answered.size >= before + more, {
    timeoutMs: 120_000,
  });
}

/** After a wiped store the processors make the stream again, which they cannot do while they are kept down. */
async function untilStreamExists(dataDir: string): Promise<void> {
  await using stream = await ClickStream.open(dataDir);
  await until("the stream exists", async () => (await stream.lastSeq()) >= 0, {
    timeoutMs: 120_000,
  });
}

/** Waits until JetStream has acknowledged clicks that were answered after the call began. */
async function untilAcknowledged(dataDir: string, load: ClickLoad): Promise<void> {
  await using stream = await ClickStream.open(dataDir);
  let next = (await stream.lastSeq()) + 1;
  await untilAnswered(load, ACKNOWLEDGED);
  let records = 0;
  await until(
    "JetStream has acknowledged clicks",
    async () => {
      for (const last = await stream.lastSeq(); next <= last; next += 1) {
        records += await stream.recordsAt(next);
      }
      return records >= ACKNOWLEDGED / 2;
    },
    { timeoutMs: 60_000 },
  );
}
