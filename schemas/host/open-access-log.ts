import { systemClock } from "../time/clock.ts";
import { AccessLog, type AccessLogOptions } from "./access-log.ts";
import type { Lifetime } from "./lifetime.ts";
import type { Log } from "./log.ts";
import type { Metrics } from "./metrics.ts";

/** ACCESS_LOG and ACCESS_LOG_FILE. */
export type AccessSettings = {
  readonly share: "off" | number;
  readonly file: string | undefined;
};

type Host = { readonly log: Log; readonly lifetime: Lifetime; readonly metrics: Metrics };

const WARN_EVERY_MS = 60_000;

/**
 * The access log of a process, or undefined when it is off. SIGUSR2 opens its file again: SIGHUP restarts workers. @throws if the
 * file cannot be opened.
 */
export function openAccessLog(
  role: AccessLogOptions["role"],
  { share, file }: AccessSettings,
  { log, lifetime, metrics }: Host,
): AccessLog | undefined {
  const dropped = metrics.counter("access_log_lines_dropped_total");
  let warnedAtMs = 0;
  const failed = (error: unknown): void => {
    const nowMs = systemClock.nowMs();
    if (nowMs - warnedAtMs < WARN_EVERY_MS) return;
    warnedAtMs = nowMs;
    log.warn({ err: error }, "access-log.not-written");
  };
  const events = { dropped: (lines: number) => dropped.add(lines), failed };
  const access = share === "off" ? undefined : AccessLog.open({ role, share, file, events });
  process.on("SIGUSR2", () => access?.reopen());
  lifetime.own("access log", async () => {
    await access?.close();
  });
  return access;
}
