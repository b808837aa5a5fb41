import {
  type ConversionCommand,
  ConversionCommandReply,
} from "../../../schemas/events/conversion-command.ts";
import { ask } from "../../../schemas/nats/ask.ts";
import { ApiError, unavailable } from "../../operation/errors.ts";
import type { OperationContext } from "../../operation/operation.ts";
import type { Principal } from "../../operation/principal.ts";

/** Longer than a processor needs on a busy store. The caller waits at most this long for its 503. */
const ANSWER_TIMEOUT_MS = 8_000;

export type Answered = Exclude<
  ConversionCommandReply,
  { readonly kind: "refused" | "unavailable" }
>;

/** Who asks, for the history of the conversion. */
export function actorOf({
  actor,
}: Principal): Pick<ConversionCommand, "keyId"> & { readonly personId?: number } {
  return actor.kind === "key" ? { keyId: actor.id } : { keyId: 0, personId: actor.id };
}

/**
 * Sends a command to the conversion processors and waits for the result.
 * @throws {ApiError} a refusal, or `unavailable`: then it is unknown whether the command was carried out.
 */
export async function sendConversionCommand(
  context: OperationContext,
  command: ConversionCommand,
): Promise<Answered> {
  const reply = await replyTo(context, command);
  switch (reply.kind) {
    case "created":
    case "changed":
      return reply;
    case "unavailable":
      throw unavailable("the store of conversions");
    case "refused":
      throw new ApiError(reply.code, reply.message, {
        details: { fields: reply.fields, field: reply.field },
      });
  }
}

async function replyTo(
  { nats, requestId, trace }: OperationContext,
  command: ConversionCommand,
): Promise<ConversionCommandReply> {
  let reply: ConversionCommandReply | undefined;
  try {
    reply = await ask(nats, {
      subject: ({ conversionCommand }) => conversionCommand,
      body: command,
      cause: { request_id: requestId, traceparent: trace?.traceparent },
      timeoutMs: ANSWER_TIMEOUT_MS,
      answer: ConversionCommandReply,
    });
  } catch (error) {
    // Here too it is unknown whether the command was carried out.
    throw unavailable("the processing of conversions", error);
  }
  if (reply === undefined) throw unavailable("the processing of conversions");
  return reply;
}
