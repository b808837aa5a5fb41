import { expect, test } from "vitest";
import { CLOSING_LANE } from "../../../schemas/clickhouse/closing-lane.ts";
import { ClickWorld } from "../../integration/clicks/click-world.ts";
import { IS_FULL, reportCases } from "../../promises/report-cases.ts";
import { startServers } from "../../services/servers.ts";
import { randomOf, SEED } from "../../system/seed.ts";
import { pause } from "../../system/service.ts";
import {
  ClickTraffic,
  trafficCounts,
  trafficExpected,
} from "../integration/clicks/click-traffic.ts";
import { WriterProcess } from "../integration/clicks/writer-process.ts";

const ROUNDS = IS_FULL ? 4 : 1;
/** Each writer takes over from the one before it; all of them wake up while the last one runs. */
const FROZEN_PER_ROUND = IS_FULL ? 5 : 3;
const FROZEN_MS = IS_FULL ? 60_000 : 500;
const LEASE_MS = 2_000;
/** At full size the last writer reads minutes of traffic first. */
const SETTLED_MS = IS_FULL ? 300_000 : undefined;

test("a frozen writer that wakes up after its lanes moved writes nothing (P10)", async (context) => {
  const random = randomOf(SEED);
  const servers = await startServers({
    need: ["postgres", "nats", "clickhouse"],
    isMigrated: true,
  });
  const world = await ClickWorld.open(servers.urls);
  const writers: WriterProcess[] = [];
  try {
    const traffic = new ClickTraffic(world, SEED);
    traffic.start();
    for (let round = 0; round < ROUNDS; round += 1) {
      const frozen: WriterProcess[] = [];
      for (let n = 0; n < FROZEN_PER_ROUND; n += 1) {
        const writer = WriterProcess.start(world.environment(`frozen-${round}-${n}`, LEASE_MS));
        writers.push(writer);
        await writer.untilOpen();
        await pause(random() * 1_500);
        writer.freeze();
        frozen.push(writer);
      }
      const next = WriterProcess.start(world.environment(`next-${round}`, LEASE_MS));
      writers.push(next);
      await next.untilOpen();
      await pause(FROZEN_MS);
      for (const writer of frozen) {
        writer.thaw();
        await pause(random() * 1_000);
      }
      await Promise.all(frozen.map(async (writer) => await writer.kill()));
      await next.kill("SIGTERM");
    }
    await traffic.stop();
    const last = WriterProcess.start(world.environment("last", LEASE_MS));
    writers.push(last);
    for (const producer of traffic.producers) {
      await world.untilSettled(producer, producer.lines.length, SETTLED_MS);
    }
    expect(await trafficCounts(world), `seed ${SEED}`).toEqual(trafficExpected(traffic));
    const [late] = await world.facts<{ rows: number }>(
      `select count() as rows from click join
         (select _lane, _writer_epoch as epoch, min(inserted_at) as since from click group by _lane, epoch) as taken
         on click._lane = taken._lane
       where taken.epoch > click._writer_epoch and taken.since < click.inserted_at
         and click._lane != ${CLOSING_LANE}`,
    );
    reportCases(context, { cases: traffic.clicks, violations: late?.rows ?? 0 });
    expect(late, "rows of a writer after the first row of the next one").toEqual({ rows: 0 });
    process.stderr.write(
      `P10: ${ROUNDS * FROZEN_PER_ROUND} writers frozen and woken, ${traffic.clicks} clicks, each stored once\n`,
    );
  } finally {
    await Promise.all(writers.map(async (writer) => await writer.kill()));
    await world.close();
    await servers.stop();
  }
});
