import type { Msg } from "@nats-io/transport-node";
import type { ZodType } from "zod";
import type { Nats } from "./connect.ts";
import type { Subjects } from "./subjects.ts";

/** What one process asks of another, as JSON, and what it may hear. */
export type Question<Answer> = {
  readonly subject: (subjects: Subjects) => string;
  readonly body: unknown;
  readonly timeoutMs: number;
  readonly answer: ZodType<Answer>;
};

/**
 * Returns the answer of another process. Undefined when none came in time, or without `nats`: an outage, after which it is unknown
 * whether the question arrived. @throws {SyntaxError | ZodError} for an answer of another form.
 */
export async function ask<Answer>(
  nats: Nats | undefined,
  { subject, body, timeoutMs, answer }: Question<Answer>,
): Promise<Answer | undefined> {
  if (nats === undefined) return undefined;
  const { connection, subjects } = nats;
  const text = JSON.stringify(body);
  let message: Msg;
  try {
    message = await connection.request(subject(subjects), text, { timeout: timeoutMs });
  } catch {
    // No responder, no time left, or the connection went: all of them an outage.
    return undefined;
  }
  return answer.parse(message.json());
}
