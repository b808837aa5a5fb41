import { setTimeout as pause } from "node:timers/promises";
import { askWriter } from "../../schemas/click-lookup/ask-writer.ts";
import type { ClickPageQuery } from "../../schemas/events/click-query.ts";
import type { Nats } from "../../schemas/nats/connect.ts";
import { unavailable } from "../errors.ts";
import { StoredClick } from "./click-row.ts";

/** How long a page waits for a writer that may not know every click in question yet (G162). */
const PATIENCE_MS = 2_000;
const POLL_MS = 25;
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
    const answer = await askWriter(
      nats,
      after === undefined ? rest : { ...rest, after },
      StoredClick,
    );
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
