import { expect, test } from "vitest";
import { rollupDifferences } from "../../../api/reports/rollup-differences.ts";
import { laneConsumers } from "../../../schemas/nats/lane-consumer.ts";
import { ClickWorld } from "../../integration/clicks/click-world.ts";
import { IS_FULL, reportCases } from "../../promises/report-cases.ts";
import { FOUR_LANES } from "../../samples/four-lanes.ts";
import { startServers } from "../../services/servers.ts";
import { randomOf, SEED } from "../../system/seed.ts";
import { pause } from "../../system/service.ts";
import { until } from "../../system/until.ts";
import {
  ClickTraffic,
  trafficCounts,
  trafficExpected,
} from "../integration/clicks/click-traffic.ts";
import { WriterProcess } from "../integration/clicks/writer-process.ts";

const KILLS = IS_FULL ? 200 : 3;
const LIFE_MS_MAX = 1_200;
/** The whole journal is read twice more at the end. */
const SETTLED_MS = 60_000 + KILLS * 3_000;

test("each click counts once, through kill -9 of its writer and a replay of the journal (P9)", async (context) => {
  const random = randomOf(SEED);
  const servers = await startServers({
    need: ["postgres", "nats", "clickhouse"],
    isMigrated: true,
  });
  const world = await ClickWorld.open(servers.urls);
  let writer: WriterProcess | undefined;
  try {
    const traffic = new ClickTraffic(world, SEED);
    traffic.start();
    for (let kill = 0; kill < KILLS; kill += 1) {
      writer = WriterProcess.start(world.environment("p09"));
      // Some kills come while the writer takes its lanes, or while it queries the table.
      if (random() < 0.8) await writer.untilOpen();
      await pause(random() * LIFE_MS_MAX);
      await writer.kill();
    }
    await traffic.stop();
    writer = WriterProcess.start(world.environment("p09"));
    for (const producer of traffic.producers) {
      await world.untilSettled(producer, producer.lines.length, SETTLED_MS);
    }
    expect(await trafficCounts(world), `seed ${SEED}`).toEqual(trafficExpected(traffic));

    reportCases(context, { cases: traffic.clicks, violations: 0 });
    await writer.kill();
    for (const producer of traffic.producers)
      await producer.shipAll(1 + Math.floor(random() * 250));
    writer = WriterProcess.start(world.environment("p09"));
    await until("the stream was read to its end", async () => await isRead(world), {
      timeoutMs: SETTLED_MS,
    });
    expect(await trafficCounts(world), `seed ${SEED}, replayed`).toEqual(trafficExpected(traffic));
    expect(
      (await rollupDifferences(world.clickhouse)).differing,
      "sums that differ from their rows",
    ).toEqual([]);
    process.stderr.write(`P9: ${KILLS} kills, ${traffic.clicks} clicks, each stored once\n`);
  } finally {
    await writer?.kill();
    await world.close();
    await servers.stop();
  }
});

/** Whether every message of the stream has been read and acknowledged. */
async function isRead(world: ClickWorld): Promise<boolean> {
  const lanes = await Promise.all(
    FOUR_LANES.clicks.map(async (lane) => await laneConsumers(world.nats, lane)),
  );
  return lanes.every(
    ([info]) => info !== undefined && info.num_pending === 0 && info.num_ack_pending === 0,
  );
}
