import type { Msg } from "@nats-io/transport-node";
import type { ZodType } from "zod";
import type { Cause } from "../events/cause.ts";
import { causeHeaders } from "./cause-headers.ts";
import type { Nats } from "./connect.ts";
import type { Subjects } from "./subjects.ts";

/** A JSON request to another process, and the schema of its answer. */
export type Question<Answer> = {
  readonly subject: (subjects: Subjects) => string;
  readonly body: unknown;
  /** The request that needs the answer. */
  readonly cause?: Cause | undefined;
  readonly timeoutMs: number;
  readonly answer: ZodType<Answer>;
};

/**
 * Returns the answer of another process. Undefined if none arrived in time, or without `nats`: an outage, after which it is unknown whether
 * the request arrived. @throws {SyntaxError | ZodError} for an answer that does not fit the schema.
 */
export async function ask<Answer>(
  nats: Nats | undefined,
  { subject, body, cause, timeoutMs, answer }: Question<Answer>,
): Promise<Answer | undefined> {
  if (nats === undefined) return undefined;
  const { connection, subjects } = nats;
  const text = JSON.stringify(body);
  let message: Msg;
  try {
    message = await connection.request(subject(subjects), text, {
      timeout: timeoutMs,
      ...(cause && { headers: causeHeaders(cause) }),
    });
  } catch {
    // No responder, a time-out or a lost connection: each is an outage.
    return undefined;
  }
  return answer.parse(message.json());
}
