import { type Logger, pino } from "pino";

export type Log = Logger;

/** Never in a log, at any depth (P31). No code logs addresses. */
const SECRETS = [
  "token",
  "key",
  "secret",
  "authorization",
  "cookie",
  "password",
  "email",
  "phone",
  "params",
  "query",
];

/**
 * Writes JSON lines to standard output, or to another file descriptor. The message of a line is an event name, such as
 * `delivery.attempted`.
 */
export function openLog(options: { process: string; level: string; descriptor?: number }): Log {
  const { level, descriptor = 1 } = options;
  return pino(
    {
      level,
      base: { process: options.process, pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: SECRETS.flatMap((name) => [name, `*.${name}`]), censor: "[redacted]" },
    },
    pino.destination(descriptor),
  );
}
