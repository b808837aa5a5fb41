import { readdirSync, statSync } from "node:fs";
import { constants, type EventLoopUtilization, PerformanceObserver } from "node:perf_hooks";
import { getHeapStatistics } from "node:v8";
import { buildInfo } from "./build-info.ts";
import type { Metrics } from "./metrics.ts";

const DELAY_SAMPLE_MS = 100;
const OPEN_FILES = "/proc/self/fd";

const GC_KINDS = new Map<unknown, "minor" | "major" | "incremental" | "weak">([
  [constants.NODE_PERFORMANCE_GC_MINOR, "minor"],
  [constants.NODE_PERFORMANCE_GC_MAJOR, "major"],
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL, "incremental"],
  [constants.NODE_PERFORMANCE_GC_WEAKCB, "weak"],
]);

/** Declares the metrics of every process and measures until `close`. One per process. */
export function measureProcess(
  metrics: Metrics,
  role: "ingress" | "processors" | "api",
): { close(): void } {
  const { version, commit } = buildInfo();
  metrics.gauges("build_info", () => [[{ role, version, commit }, 1]]);
  const startedAtS = Date.now() / 1_000 - process.uptime();
  metrics.gauge("process_start_time_seconds", () => startedAtS);
  metrics.counted("process_cpu_seconds_total", () => {
    const { user, system } = process.cpuUsage();
    return [
      [{ kind: "user" }, user / 1e6],
      [{ kind: "system" }, system / 1e6],
    ];
  });
  metrics.gauge("process_resident_memory_bytes", () => process.memoryUsage.rss());
  metrics.gauges("process_heap_bytes", () => {
    const { used_heap_size, heap_size_limit } = getHeapStatistics();
    return [
      [{ kind: "used" }, used_heap_size],
      [{ kind: "limit" }, heap_size_limit],
    ];
  });
  metrics.gauge("process_open_fds", openFiles);
  const collected = measureCollections(metrics);
  const delays = measureEventLoop(metrics);
  return {
    close: () => {
      collected.disconnect();
      clearInterval(delays);
    },
  };
}

function measureCollections(metrics: Metrics): PerformanceObserver {
  const seconds = metrics.counter("gc_seconds_total");
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      const kind = GC_KINDS.get(kindOf(entry));
      if (kind !== undefined) seconds.add(entry.duration / 1_000, { kind });
    }
  });
  observer.observe({ entryTypes: ["gc"] });
  return observer;
}

/** `detail` is of this system and not in the types. */
function kindOf(entry: object): unknown {
  const detail = "detail" in entry ? entry.detail : undefined;
  return typeof detail === "object" && detail !== null && "kind" in detail
    ? detail.kind
    : undefined;
}

/** A timer that runs late shows what a request waits for before its handler. */
function measureEventLoop(metrics: Metrics): NodeJS.Timeout {
  let before: EventLoopUtilization = performance.eventLoopUtilization();
  metrics.gauge("event_loop_utilization", () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    before = now;
    return utilization;
  });
  const delay = metrics.histogram("event_loop_delay_seconds").series({});
  let lastAtMs = performance.now();
  return setInterval(() => {
    const nowMs = performance.now();
    delay.observe(Math.max(0, nowMs - lastAtMs - DELAY_SAMPLE_MS) / 1_000);
    lastAtMs = nowMs;
  }, DELAY_SAMPLE_MS).unref();
}

/** Linux from 6.2 on gives the number as the size of the folder. Older kernels list it; other systems have no such folder. */
function openFiles(): number | undefined {
  const folder = statSync(OPEN_FILES, { throwIfNoEntry: false });
  if (folder === undefined) return undefined;
  return folder.size > 0 ? folder.size : readdirSync(OPEN_FILES).length;
}
