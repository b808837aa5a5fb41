/**
 * A process that reads the unique visits of lane 0 as a click writer does when it starts: `node unique-start.js <ClickHouse URL> <visits
 * it may keep>`. Prints one line of JSON, {@link UniqueStart}.
 */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { Intake, type IntakeEvents } from "../../processors/clicks/intake/intake.ts";
import { loadUniques } from "../../processors/clicks/lane/stored-uniques.ts";
import { CLICK_TABLE } from "../../processors/clicks/rows/lane-table.ts";
import { Catalog } from "../../schemas/catalog/catalog.ts";
import { openClickhouse } from "../../schemas/clickhouse/connect.ts";
import { systemClock } from "../../schemas/time/clock.ts";
import type { UniqueStart } from "./unique-results.ts";

const NOTHING: IntakeEvents = {
  undecodable: () => {},
  unreadable: () => {},
  lost: () => {},
  hole: () => {},
  repeated: () => {},
  foreign: () => {},
  visitsForgotten: () => {},
  refused: () => {},
};

const [url = "", uniquesMax] = process.argv.slice(2);
const clickhouse = openClickhouse({ url, applicationName: "bench" });
const intake = new Intake({
  lane: 0,
  table: CLICK_TABLE,
  catalog: new Catalog(),
  clock: systemClock,
  events: NOTHING,
  uniquesMax: Number(uniquesMax),
});
const residentBefore = process.memoryUsage().rss;
const delays = monitorEventLoopDelay({ resolution: 1 });
delays.enable();
const startedAtMs = performance.now();
const startedAt = process.cpuUsage();
const servers = [{ shard: "", clickhouse }];
await loadUniques(
  { everywhere: () => Promise.resolve(servers), assertWhole: () => Promise.resolve() },
  intake,
);
const { user, system } = process.cpuUsage(startedAt);
const result: UniqueStart = {
  visits: intake.uniques.size,
  seconds: (performance.now() - startedAtMs) / 1_000,
  processorSeconds: (user + system) / 1e6,
  bytes: intake.uniques.bytes,
  residentBytes: process.memoryUsage().rss - residentBefore,
  pauseMs: delays.max / 1e6,
};
process.stdout.write(`${JSON.stringify(result)}\n`);
await clickhouse.close();
