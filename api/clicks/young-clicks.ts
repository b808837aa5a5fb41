import { setTimeout as pause } from "node:timers/promises";
import { askWriter } from "../../schemas/click-lookup/ask-writer.ts";
import type { ClickPageQuery } from "../../schemas/events/click-query.ts";
import type { Nats } from "../../schemas/nats/connect.ts";
import { unavailable } from "../errors.ts";
import { StoredClick } from "./click-row.ts";

/** How long a page waits for a click writer that may not have read all of its clicks yet (G162). */
const WRITER_TIMEOUT_MS = 2_000;
const POLL_MS = 25;
/**
 * The clicks of one shard that match the query and that ClickHouse may not have yet. Every click answered up to `completeMs`
 * (included, UTC ms) is in this result or in ClickHouse.
 * @throws {ApiError} `unavailable` when the writer cannot confirm this within {@link WRITER_TIMEOUT_MS}.
 */
export async function readPage(
  nats: Nats | undefined,
  query: ClickPageQuery,
  completeMs: number,
): Promise<StoredClick[]> {
  const read: StoredClick[] = [];
  let { after } = query;
  const deadlineMs = performance.now() + WRITER_TIMEOUT_MS;
  for (;;) {
    const rest = { ...query, after, limit: query.limit - read.length };
    const answer = await askWriter(nats, rest, StoredClick);
    if (answer !== undefined && answer.completeToMs > completeMs) {
      read.push(...answer.clicks);
      const last = answer.clicks.at(-1);
      if (answer.isCut !== true || last === undefined || read.length >= query.limit) return read;
      after = { atMs: last.ts, clickId: last.click_id };
      continue;
    }
    if (performance.now() >= deadlineMs) throw unavailable("a part of the newest clicks");
    await pause(POLL_MS);
  }
}
