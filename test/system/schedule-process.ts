/** The scheduler alone, as a process that tests kill. Ends when its standard input is closed. */
import { setTimeout as sleep } from "node:timers/promises";
import { startSchedule } from "../../processors/schedule/start.ts";
import { openClickhouse } from "../../schemas/clickhouse/connect.ts";
import { openLog } from "../../schemas/host/log.ts";
import { Metrics } from "../../schemas/host/metrics.ts";
import { openPool } from "../../schemas/postgres/connect.ts";

const stop = new AbortController();
process.stdin.resume().once("end", () => stop.abort());
const pool = openPool({
  url: process.env["POSTGRES_URL"] ?? "",
  applicationName: "test schedule",
  connectionsMax: 4,
});
const clickhouse = openClickhouse({
  // No task in these tests uses ClickHouse.
  url: process.env["CLICKHOUSE_URL"] ?? "http://127.0.0.1:1/none",
  applicationName: "test schedule",
});
const log = openLog({ process: "schedule", level: "warn" });
const schedule = startSchedule({
  pool,
  clickhouse,
  log,
  metrics: new Metrics(),
  signal: stop.signal,
});
while (!stop.signal.aborted) await sleep(100);
await schedule.close();
await pool.end();
await clickhouse.close();
