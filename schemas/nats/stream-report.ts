import { z } from "zod";
import type { Nats } from "./connect.ts";

/** The settings and contents of one JetStream stream. */
export type StreamReport = {
  readonly name: string;
  readonly replicas: number;
  readonly isOnDisk: boolean;
  readonly discardsOld: boolean;
  /** 0 for no limit. */
  readonly maxAgeMs: number;
  /** -1 for no limit. */
  readonly maxBytes: number;
  /** Whether it acknowledges messages before they are written. */
  readonly persistsAsync: boolean;
  readonly bytes: number;
  /** Between the oldest and the newest message. */
  readonly spanMs: number;
  readonly metadata: Readonly<Record<string, string>>;
};

const NS_PER_MS = 1_000_000;
const ANSWER_WAIT_MS = 2_000;
const STREAM_NOT_FOUND = 10_059;

const Answer = z.object({
  error: z.object({ err_code: z.int(), description: z.string() }).optional(),
  config: z
    .object({
      num_replicas: z.int(),
      storage: z.string(),
      discard: z.string(),
      max_age: z.number(),
      max_bytes: z.number(),
      persist_mode: z.string().default("default"),
      metadata: z.record(z.string(), z.string()).default({}),
    })
    .optional(),
  state: z.object({ bytes: z.number(), first_ts: z.string(), last_ts: z.string() }).optional(),
});

/**
 * Asks for one stream. Needs no other permission than for `$JS.API.STREAM.INFO.<name>`. Undefined for a stream that does not exist.
 * @throws what the driver throws, and an Error with the code for any other refusal.
 */
export async function askStream(
  { connection }: Nats,
  name: string,
): Promise<StreamReport | undefined> {
  const reply = await connection.request(`$JS.API.STREAM.INFO.${name}`, undefined, {
    timeout: ANSWER_WAIT_MS,
  });
  const { error, config, state } = Answer.parse(reply.json());
  if (error?.err_code === STREAM_NOT_FOUND) return undefined;
  if (config === undefined || state === undefined) {
    throw new Error(`JetStream refuses to describe the stream ${name}: ${error?.err_code ?? 0}`);
  }
  return {
    name,
    replicas: config.num_replicas,
    isOnDisk: config.storage === "file",
    discardsOld: config.discard === "old",
    maxAgeMs: config.max_age / NS_PER_MS,
    maxBytes: config.max_bytes,
    persistsAsync: config.persist_mode === "async",
    bytes: state.bytes,
    spanMs: Math.max(0, Date.parse(state.last_ts) - Date.parse(state.first_ts)),
    metadata: config.metadata,
  };
}
