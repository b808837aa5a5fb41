import { setTimeout as pause } from "node:timers/promises";
import {
  ClickAnswer,
  type ClickPageQuery,
  type ClickQuery,
} from "../../schemas/events/click-query.ts";
import { ask } from "../../schemas/nats/ask.ts";
import type { Nats } from "../../schemas/nats/connect.ts";
import { unavailable } from "../errors.ts";
import { StoredClick } from "./click-row.ts";

/** What the writer of a shard knows of clicks that ClickHouse may not have yet. */
export type YoungClicks = {
  /** Every click of the shard answered before this moment (UTC ms) is known to the writer or to ClickHouse. */
  readonly completeToMs: number;
  readonly clicks: readonly StoredClick[];
  /** Of a page: there are more behind its last one. */
  readonly isCut: boolean;
};

/** An answered click may lie in the journal of a host that is cut off for this long; after it, it counts as lost. */
export const JOURNALED_MS = 48 * 3_600_000;
/** How long a question waits for a click that may be on its way, or for a writer to be sure that none is (G162). */
export const PATIENCE_MS = 2_000;
export const POLL_MS = 25;
const TIMEOUT_MS = 500;

/** Undefined when the shard has no writer just now, or it does not answer in time. */
export async function askWriter(
  nats: Nats | undefined,
  query: ClickQuery | ClickPageQuery,
): Promise<YoungClicks | undefined> {
  const answer = await ask(nats, {
    subject: ({ clickQuery }) => clickQuery(query.shard),
    body: query,
    timeoutMs: TIMEOUT_MS,
    answer: ClickAnswer,
  });
  if (answer === undefined) return undefined;
  return {
    completeToMs: answer.completeToMs,
    clicks: answer.clicks.map((row) => StoredClick.parse(JSON.parse(row))),
    isCut: answer.isCut ?? false,
  };
}

/**
 * The clicks of one shard that a page asks for and that ClickHouse may not have; every click answered until `completeMs`
 * (included, UTC ms) is among them or in ClickHouse.
 * @throws {ApiError} `unavailable` when that cannot be said within {@link PATIENCE_MS}.
 */
export async function readPage(
  nats: Nats | undefined,
  query: ClickPageQuery,
  completeMs: number,
): Promise<StoredClick[]> {
  const read: StoredClick[] = [];
  let { after } = query;
  const deadlineMs = performance.now() + PATIENCE_MS;
  for (;;) {
    const rest = { ...query, limit: query.limit - read.length };
    const answer = await askWriter(nats, after === undefined ? rest : { ...rest, after });
    if (answer !== undefined && answer.completeToMs > completeMs) {
      read.push(...answer.clicks);
      const last = answer.clicks.at(-1);
      if (!answer.isCut || last === undefined || read.length >= query.limit) return read;
      after = { atMs: last.ts, clickId: last.click_id };
      continue;
    }
    if (performance.now() >= deadlineMs) throw unavailable("a part of the newest clicks");
    await pause(POLL_MS);
  }
}
