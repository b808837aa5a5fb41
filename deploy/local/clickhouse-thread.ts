/**
 * The thread in which the engine of ClickHouse starts. This thread and the engine's threads inherit the confinement of the thread that starts it.
 * Threads that Node.js had before are not confined, so the engine does not start in them. This thread stays in the library until the engine's last
 * statement has ended.
 */
import assert from "node:assert";
import { workerData } from "node:worker_threads";
import { DataType, load, open } from "ffi-rs";

const LIBRARY = "clickhouse";

function isTexts(data: unknown): data is string[] {
  return Array.isArray(data) && data.every((text) => typeof text === "string");
}

const data: unknown = workerData;
assert(
  isTexts(data),
  "the engine process passes the library and the arguments of its main function",
);
const [library = "", ...args] = data;
open({ library: LIBRARY, path: library });
load({
  library: LIBRARY,
  funcName: "query_stable_v2",
  retType: DataType.External,
  paramsType: [DataType.I32, DataType.StringArray],
  paramsValue: [args.length, args],
});
