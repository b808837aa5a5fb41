/**
 * Loaded before each test file: measures the processor time of the file and of the processes that it started and waited for, and how fast the
 * machine is meanwhile.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { afterAll } from "vitest";

declare module "vitest" {
  interface TaskMeta {
    /** Seconds of processor time of a file's worker and of the ended processes that the worker started. */
    processorSeconds?: number;
    /** Milliseconds of processor time that always the same work took before a file. */
    yardstickMs?: number;
  }
}

/** Linux counts in hundredths of a second. */
const TICKS_PER_SECOND = 100;
const US_PER_MS = 1_000;

const ROWS = Array.from({ length: 4_000 }, (_, row) => ({
  id: row,
  name: `row ${row}`,
  tags: ["a", String(row)],
}));

const yardstickMs = measureYardstick();
const before = processorSeconds();

// The hook that is registered first runs last, after the hooks that stop the servers of the file.
// oxlint-disable-next-line eslint/no-empty-pattern -- vitest reads the names of the fixtures from the pattern
afterAll(({}, suite) => {
  suite.meta.processorSeconds = processorSeconds() - before;
  suite.meta.yardstickMs = yardstickMs;
});

/** Work of the kinds that tests do, in code that needs no warming up: text, objects, memory and a digest. */
function measureYardstick(): number {
  const start = process.cpuUsage();
  const text = JSON.stringify(ROWS);
  const copy: unknown = JSON.parse(text);
  createHash("sha256").update(JSON.stringify(copy)).digest();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / US_PER_MS;
}

function processorSeconds(): number {
  if (process.platform !== "linux") return 0;
  const stat = readFileSync("/proc/self/stat", "utf8");
  // utime, stime, cutime and cstime are the fields 14 to 17. The name, which may contain spaces, ends the second.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS_PER_SECOND;
}
