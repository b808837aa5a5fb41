import { hostname } from "node:os";
import { z } from "zod";
import type { Log } from "../host/log.ts";
import type { Nats } from "../nats/connect.ts";
import type { PostgresMark } from "./store-marks.ts";

/** A process that uses another Postgres with the same incarnation. */
const TwinAnswer = z.object({ host: z.string().max(255), life: z.string().max(255) });
export type Twin = z.infer<typeof TwinAnswer>;

const TwinQuestion = z.object({ incarnation: z.string(), life: z.string() });

/** A running process answers at once. If there is none, NATS itself answers. */
const ANSWER_MS_MAX = 500;
const QUESTIONS_PER_LINE = 300;

/**
 * Answers processes that ask which Postgres is in use. Two running Postgres servers with one incarnation are an installation and a copy of it
 * on which `tracker clone-reset` was not run, or two halves of a failover. `own` returns the mark of Postgres if it was read in the last
 * seconds.
 */
export function answerTwins(
  nats: Nats,
  own: () => PostgresMark | undefined,
  log: Log,
): { close(): Promise<void> } {
  let copies = 0;
  const subscription = nats.connection.subscribe(nats.subjects.twinQuestion, {
    callback: (error, message) => {
      const mark = own();
      if (error !== null || mark === undefined) return;
      const question = TwinQuestion.safeParse(jsonOf(message.data));
      if (!question.success || question.data.incarnation !== mark.incarnation) return;
      const answer: Twin = { host: hostname(), life: mark.life };
      message.respond(JSON.stringify(answer));
      if (question.data.life === mark.life) return;
      // Processes of a copy ask every second.
      if (copies % QUESTIONS_PER_LINE === 0) log.error(question.data, "stores.copy-found");
      copies += 1;
    },
  });
  return {
    close: async () => {
      // A lost connection has nothing left to drain.
      await Promise.allSettled([subscription.drain()]);
    },
  };
}

/** A process that writes, with the same incarnation on another Postgres; undefined if none answers within 0.5 s. Never rejects. */
export async function findTwin(
  nats: Nats,
  { incarnation, life }: PostgresMark,
): Promise<Twin | undefined> {
  try {
    const question = JSON.stringify({ incarnation, life });
    const { subjects, connection } = nats;
    const message = await connection.request(subjects.twinQuestion, question, {
      timeout: ANSWER_MS_MAX,
    });
    const answer = TwinAnswer.safeParse(jsonOf(message.data));
    return answer.success && answer.data.life !== life ? answer.data : undefined;
  } catch {
    // Nobody answers, or NATS is away: then no process of a copy can be reached either.
    return undefined;
  }
}

function jsonOf(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    // Not from one of our processes.
    return undefined;
  }
}
