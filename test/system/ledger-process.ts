/** The ledger's lane alone, as a process that tests kill. Ends when its standard input is closed. */
import { once } from "node:events";
import { startLedger } from "../../processors/ledger/start.ts";
import { openLog } from "../../schemas/host/log.ts";
import { Metrics } from "../../schemas/host/metrics.ts";
import { openPool } from "../../schemas/postgres/connect.ts";

const stop = new AbortController();
process.stdin.resume();
const pool = openPool({
  url: process.env["POSTGRES_URL"] ?? "",
  applicationName: "test ledger",
  connectionsMax: 2,
});
const ledger = startLedger({
  pool,
  log: openLog({ process: "ledger", level: "error" }),
  metrics: new Metrics(),
  signal: stop.signal,
});
await once(process.stdin, "end");
await ledger.close();
await pool.end();
