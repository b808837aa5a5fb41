import type { ZodType } from "zod";
import { ClickAnswer, type ClickQuery } from "../events/click-query.ts";
import { ask } from "../nats/ask.ts";
import type { Nats } from "../nats/connect.ts";

const TIMEOUT_MS = 500;

/** Asks the writer of a shard for clicks that ClickHouse may not have yet. */
export type WriterAnswer<Click> = Omit<ClickAnswer, "clicks"> & {
  readonly clicks: readonly Click[];
};

/** Undefined if the shard has no writer now, or the writer does not answer within 500 ms. */
export async function askWriter<Click>(
  nats: Nats | undefined,
  query: ClickQuery,
  click: ZodType<Click>,
): Promise<WriterAnswer<Click> | undefined> {
  const answer = await ask(nats, {
    subject: ({ clickQuery }) => clickQuery(query.shard),
    body: query,
    timeoutMs: TIMEOUT_MS,
    answer: ClickAnswer,
  });
  if (answer === undefined) return undefined;
  return { ...answer, clicks: answer.clicks.map((row) => click.parse(JSON.parse(row))) };
}
