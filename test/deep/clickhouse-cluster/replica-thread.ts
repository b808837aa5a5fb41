/** The thread in which the engine of a replica runs: as deploy/local/clickhouse-thread.ts, with the patches. */
import { workerData } from "node:worker_threads";
import { DataType, load, open } from "ffi-rs";
import { makeReplica } from "./library-patches.ts";
import { ReplicaOrder } from "./replica-order.ts";

const LIBRARY = "clickhouse";
const INTERSERVER_PORT = 9_009;
/** The engine is alive while its last statement runs. */
const FOR_EVER =
  "SELECT sleepEachRow(0.1) FROM system.numbers SETTINGS max_block_size = 1, " +
  "function_sleep_max_microseconds_per_block = 0, log_queries = 0, max_threads = 1 FORMAT Null";

const { library, configFile, address, interserver } = ReplicaOrder.parse(workerData);
open({ library: LIBRARY, path: library });
makeReplica({ library, host: address, port: INTERSERVER_PORT, ...interserver });
const args = [
  "clickhouse-local",
  `--config-file=${configFile}`,
  "--query",
  `SYSTEM START LISTEN HTTP; SYSTEM START LISTEN TCP; ${FOR_EVER}`,
];
load({
  library: LIBRARY,
  funcName: "query_stable_v2",
  retType: DataType.External,
  paramsType: [DataType.I32, DataType.StringArray],
  paramsValue: [args.length, args],
});
