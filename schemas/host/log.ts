import { type DestinationStream, type Logger, pino } from "pino";

export type Log = Logger;

/** Never in a log, at the top of a line or up to three levels below (P31). No code logs addresses. */
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

const LEVELS = ["", "*.", "*.*.", "*.*.*."];

/**
 * Writes JSON lines to standard output, or to another file descriptor. The message of a line is an event name, such as
 * `delivery.attempted`.
 */
export function openLog(
  options: { process: string; level: string; descriptor?: number },
  destination: DestinationStream = pino.destination(options.descriptor ?? 1),
): Log {
  return pino(
    {
      level: options.level,
      base: { process: options.process, pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: {
        paths: LEVELS.flatMap((level) => SECRETS.map((name) => level + name)),
        censor: "[redacted]",
      },
    },
    destination,
  );
}
