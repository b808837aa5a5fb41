import { ClickAnswer, type ClickQuery } from "../../schemas/events/click-query.ts";
import type { Nats } from "../../schemas/nats/connect.ts";
import { StoredClick } from "./click-row.ts";

/** What the writer of a shard knows of clicks that ClickHouse may not have yet. */
export type YoungClicks = {
  /** Every click of the shard answered before this moment (UTC ms) is known to the writer or to ClickHouse. */
  readonly completeToMs: number;
  readonly clicks: readonly StoredClick[];
};

const TIMEOUT_MS = 500;

/** Undefined when the shard has no writer just now, or it does not answer in time. */
export async function askWriter(
  nats: Nats | undefined,
  query: ClickQuery,
): Promise<YoungClicks | undefined> {
  if (nats === undefined) return undefined;
  let reply: Uint8Array;
  try {
    const subject = nats.subjects.clickQuery(query.shard);
    const message = await nats.connection.request(subject, JSON.stringify(query), {
      timeout: TIMEOUT_MS,
    });
    reply = message.data;
  } catch {
    // Nobody there, too late, or the connection is lost: all mean that this shard cannot be asked now.
    return undefined;
  }
  const answer = ClickAnswer.parse(JSON.parse(new TextDecoder().decode(reply)));
  return {
    completeToMs: answer.completeToMs,
    clicks: answer.clicks.map((row) => StoredClick.parse(JSON.parse(row))),
  };
}
