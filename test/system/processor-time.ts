/** Loaded before each test file: measures the processor time of the file and of the processes that it started and waited for. */
import { readFileSync } from "node:fs";
import { afterAll } from "vitest";

declare module "vitest" {
  interface TaskMeta {
    /** Of a file: seconds of processor time of its worker and of the ended processes that the worker started. */
    processorSeconds?: number;
  }
}

/** Linux counts in hundredths of a second. */
const TICKS_PER_SECOND = 100;

const before = processorSeconds();

// The hook that is registered first runs last, after those that stop the servers of the file.
// oxlint-disable-next-line eslint/no-empty-pattern -- vitest reads the names of the fixtures from the pattern
afterAll(({}, suite) => {
  suite.meta.processorSeconds = processorSeconds() - before;
});

function processorSeconds(): number {
  if (process.platform !== "linux") return 0;
  const stat = readFileSync("/proc/self/stat", "utf8");
  // utime, stime, cutime and cstime are the fields 14 to 17. The name, which may contain spaces, ends the second.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS_PER_SECOND;
}
