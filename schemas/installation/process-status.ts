import { z } from "zod";
import type { Log } from "../host/log.ts";
import type { Facts } from "../host/ops-server.ts";
import type { Nats } from "../nats/connect.ts";

/** What every process says about itself; more by its role. */
const ProcessStatus = z
  .object({
    role: z.enum(["ingress", "processors", "api"]),
    process_id: z.string().max(100),
    name: z.string().max(255),
    host: z.string().max(255),
    version: z.string().max(100),
    commit: z.string().max(100),
    uptime_ms: z.number(),
    stage: z.enum(["starting", "running", "draining"]),
    ready: z.boolean(),
  })
  // A fact of a newer release may have another form.
  .catchall(z.union([z.string(), z.number(), z.boolean(), z.null()]).catch(null));
export type ProcessStatus = z.infer<typeof ProcessStatus>;

/** A process whose event loop turns answers within milliseconds. */
const ANSWER_MS_MAX = 1_000;
const ANSWERS_MAX = 10_000;
const ANSWER_BYTES_MAX = 16_384;

/** Answers `process-status` with what `status` returns, for as long as the connection lives. */
export function answerStatus({ connection, subjects }: Nats, status: () => Facts, log: Log): void {
  connection.subscribe(subjects.processStatus, {
    callback: (error, message) => {
      if (error === null) message.respond(JSON.stringify(status()));
      else log.warn({ err: error }, "status.not-answered");
    },
  });
}

/**
 * Asks every process what it does, and returns the answers of one second. Returns earlier once all of `expected` (process ids) have answered.
 * Answers that are too large or not ours are left out. @throws what the driver throws when NATS is away.
 */
export async function askProcesses(
  { connection, subjects }: Nats,
  expected: ReadonlySet<string>,
): Promise<ProcessStatus[]> {
  const missing = new Set(expected);
  const answers = new Map<string, ProcessStatus>();
  const messages = await connection.requestMany(subjects.processStatus, undefined, {
    strategy: "timer",
    maxWait: ANSWER_MS_MAX,
    maxMessages: ANSWERS_MAX,
  });
  try {
    for await (const { data } of messages) {
      const answer = statusIn(data);
      if (answer === undefined) continue;
      answers.set(answer.process_id, answer);
      missing.delete(answer.process_id);
      if (expected.size > 0 && missing.size === 0) break;
    }
  } catch (error) {
    // No process listens at all.
    if (!isNoResponders(error)) throw error;
  }
  return [...answers.values()];
}

/** What the answer of a process says; undefined if it is not one. */
export function statusIn(data: Uint8Array): ProcessStatus | undefined {
  if (data.byteLength > ANSWER_BYTES_MAX) return undefined;
  try {
    return ProcessStatus.safeParse(JSON.parse(new TextDecoder().decode(data))).data;
  } catch {
    // Not from one of our processes.
    return undefined;
  }
}

function isNoResponders(error: unknown): boolean {
  return error instanceof Error && error.name === "NoResponders";
}
