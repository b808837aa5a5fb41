import { setTimeout as pause } from "node:timers/promises";
import { askWriter } from "../../../schemas/click-lookup/ask-writer.ts";
import type { ClickQuery } from "../../../schemas/events/click-query.ts";
import type { Nats } from "../../../schemas/nats/connect.ts";
import { unavailable } from "../../operation/errors.ts";
import { StoredClick } from "./click-row.ts";

/** How long a look-up waits for a click writer that may not have read all of its clicks yet (G162). */
const WRITER_TIMEOUT_MS = 2_000;
const POLL_MS = 25;

/**
 * The clicks of one shard that ClickHouse may not have yet. Every click answered up to `completeMs` (included, UTC ms) is in this result
 * or in ClickHouse.
 * @throws {ApiError} `unavailable` when the writer cannot confirm this within {@link WRITER_TIMEOUT_MS}.
 */
export async function readUnstored(
  nats: Nats | undefined,
  query: ClickQuery,
  completeMs: number,
): Promise<readonly StoredClick[]> {
  const deadlineMs = performance.now() + WRITER_TIMEOUT_MS;
  for (;;) {
    const answer = await askWriter(nats, query, StoredClick);
    if (answer !== undefined && answer.completeToMs > completeMs) return answer.clicks;
    if (performance.now() >= deadlineMs) throw unavailable("a part of the newest clicks");
    await pause(POLL_MS);
  }
}
