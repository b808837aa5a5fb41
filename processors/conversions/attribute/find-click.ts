import { setTimeout as pause } from "node:timers/promises";
import { askWriter, type WriterAnswer } from "../../../schemas/click-lookup/ask-writer.ts";
import {
  type FoundClick as Found,
  findClickById as findById,
} from "../../../schemas/click-lookup/find-click-by-id.ts";
import { JOURNALED_MS } from "../../../schemas/click-lookup/journaled.ts";
import { ClickRecord } from "../../../schemas/events/click-record.ts";
import { LANE_COUNTS, Lanes } from "../../../schemas/events/lanes.ts";
import { clickIdParts, isGenuineClickId } from "../../../schemas/ids/click-id.ts";
import type { RoleDeps } from "../../role-deps.ts";
import { latestClick, rankOf } from "./latest-click.ts";
import type { StoredAdClicks, StoredAdSearch } from "./stored-ad-clicks.ts";
import type { StoredClicks } from "./stored-clicks.ts";
import type { WorkPool } from "./work-pool.ts";

export type FoundClick = Found<ClickRecord>;

export type ClickSources = Pick<RoleDeps, "nats" | "clickhouse" | "catalog" | "clock"> & {
  readonly storedClicks: StoredClicks;
  readonly storedAdClicks: StoredAdClicks;
  /** Searches of callers without a token have their own statements, so that no postback waits for them. */
  readonly strangersAdClicks: StoredAdClicks;
  /** Bounds how many writers are asked at once for callers without a token. */
  readonly strangersSearches: WorkPool;
};

const WAIT_MS = 2_000;
const POLL_MS = 50;
/** The first polls of the writers come faster, because a new click usually arrives within a few milliseconds. */
const POLL_MS_MIN = 5;
/** A stranger's search polls writers that are behind at this slower rate: each poll takes processor time that postbacks need. */
const STRANGERS_POLL_MS = 400;
/** Wait at most this long for ClickHouse when its answer is unlikely to change the result. */
const STORED_MS = 250;
/** A newer click with the same ad ID may still be in flight, so wait this long before using the one we know. */
const LATER_MS = 500;
/** The most workspaces of one host that are searched for an ad ID when no offer is named. */
const WORKSPACES_MAX = 16;

const LANES_MAX = Math.max(...LANE_COUNTS);

const NONE: FoundClick = { kind: "none" };
const UNAVAILABLE: FoundClick = { kind: "unavailable" };

/**
 * Finds the click with this id, in any workspace. Returns "none" only in three cases: the id is not genuine; it is so old that no
 * journal still has the click; or its journal was given up, after PRODUCER_PATIENCE_HOURS or by command.
 */
export async function findClickById(
  {
    nats,
    catalog,
    clock,
    storedClicks,
  }: Pick<ClickSources, "nats" | "catalog" | "clock" | "storedClicks">,
  clickId: string,
): Promise<FoundClick> {
  if (!isGenuineClickId(clickId, catalog.secret)) return NONE;
  const { atMs } = clickIdParts(clickId);
  const isOld = clock.nowMs() - atMs > JOURNALED_MS;
  return await findById(
    {
      nats,
      row: ClickRecord,
      readStored: () => storedClicks.find(clickId, atMs),
      mayConclude: (writer) => isOld || writer?.isGivenUp === true,
    },
    clickId,
  );
}

export type AdClickSearch = StoredAdSearch & {
  /** When the report came in. The search returns "none" only when every click answered before this time is known. */
  readonly receivedAtMs: number;
};

/**
 * The latest click with an ad ID: on the named offer, else on any offer, else without an offer (G113). Asks ClickHouse at once, and
 * once more when the writers know every click answered before the report; in between only the writers can have new clicks. A click that
 * is found earlier is used only if the search takes longer than {@link LATER_MS}.
 */
export async function findClickByAdId(
  sources: ClickSources,
  search: AdClickSearch,
  pollMsMax = POLL_MS,
): Promise<FoundClick> {
  const inReach = { ...search, workspaceIds: search.workspaceIds.slice(0, WORKSPACES_MAX) };
  const startedAtMs = performance.now();
  const deadlineMs = startedAtMs + WAIT_MS;
  const stored = new StoredSearch(sources, inReach);
  for (let pollMs = POLL_MS_MIN; ; pollMs = Math.min(2 * pollMs, pollMsMax)) {
    // Ask the writers first: clicks that leave their memory in the meantime are then in ClickHouse.
    const young = await askAllWriters(sources, inReach);
    const isComplete = young !== undefined && young.completeToMs > search.receivedAtMs;
    await stored.ask({ isComplete, waitMs: pollMs });
    if (young !== undefined) {
      const best = stored.bestWith(young.clicks);
      const isLatest = isComplete || performance.now() - startedAtMs >= LATER_MS;
      if (best !== undefined && isLatest) return { kind: "found", click: best };
      if (isComplete && stored.isComplete) return NONE;
    }
    if (performance.now() >= deadlineMs) return UNAVAILABLE;
    if (!stored.isAsking) await pause(pollMs);
  }
}

/**
 * The same search for pixels and landing pages, which anybody may call with any id. A pool bounds these searches, so that they leave
 * processor time and connections to postbacks. Unavailable when too many are waiting.
 */
export async function findClickByAdIdForStranger(
  sources: ClickSources,
  search: AdClickSearch,
): Promise<FoundClick> {
  const questions =
    sources.catalog.lanes.count * Math.min(search.workspaceIds.length, WORKSPACES_MAX);
  const limited = { ...sources, storedAdClicks: sources.strangersAdClicks };
  const found = sources.strangersSearches.run(
    () => findClickByAdId(limited, search, STRANGERS_POLL_MS),
    questions,
  );
  return (await found) ?? UNAVAILABLE;
}

/**
 * What ClickHouse knows about an ad ID, for a search that continues while ClickHouse does not answer. A ClickHouse that hangs must not
 * keep the search from asking the writers again, which may receive a young click at any moment (P12).
 */
class StoredSearch {
  readonly #sources: ClickSources;
  readonly #search: AdClickSearch;
  readonly #startedAtMs: number;
  #query: Promise<void> | undefined;
  #isAway = false;
  /** The last answer; undefined before the first. */
  clicks: readonly ClickRecord[] | undefined;
  /** Whether the question was asked when the writers already knew all clicks in question. */
  isComplete = false;

  constructor(sources: ClickSources, search: AdClickSearch) {
    this.#sources = sources;
    this.#search = search;
    this.#startedAtMs = performance.now();
  }

  get isAsking(): boolean {
    return this.#query !== undefined;
  }

  /** Asks ClickHouse if its answer could be new, and waits at most `waitMs` for it. */
  async ask({ isComplete, waitMs }: { isComplete: boolean; waitMs: number }): Promise<void> {
    const isNeeded = this.clicks === undefined || (isComplete && !this.isComplete);
    if (!isNeeded) return;
    if (this.#query === undefined) {
      this.#query = this.#select(isComplete);
      // The search may end before this answer arrives, so a failure must not become an unhandled rejection.
      this.#query.catch(() => undefined);
    }
    await Promise.race([this.#query, pause(waitMs)]);
  }

  /** The best click of these and of ClickHouse's; undefined while ClickHouse may still have a better one. */
  bestWith(young: readonly ClickRecord[]): ClickRecord | undefined {
    const best = latestClick([...young, ...(this.clicks ?? [])], this.#search.offerId);
    if (best === undefined) return undefined;
    return this.clicks !== undefined || this.#isDispensable(best) ? best : undefined;
  }

  /**
   * Whether the search may use this click without ClickHouse's answer. True when ClickHouse is unavailable or slow and could only win
   * with a newer click: a newer click that is already stored is unlikely.
   */
  #isDispensable(click: ClickRecord): boolean {
    const { offerId } = this.#search;
    if (rankOf(click, offerId) < (offerId === 0 ? 1 : 2)) return false;
    return this.#isAway || performance.now() - this.#startedAtMs >= STORED_MS;
  }

  async #select(isComplete: boolean): Promise<void> {
    const clicks = await this.#sources.storedAdClicks.find(this.#search);
    this.#query = undefined;
    this.#isAway = clicks === "away";
    if (clicks === "away") return;
    this.clicks = clicks;
    this.isComplete = isComplete;
  }
}

/** Undefined unless all writers answer. */
async function askAllWriters(
  { nats, catalog }: ClickSources,
  search: AdClickSearch,
): Promise<Pick<WriterAnswer<ClickRecord>, "clicks" | "completeToMs"> | undefined> {
  const clicks: ClickRecord[] = [];
  let completeToMs = Number.POSITIVE_INFINITY;
  // The installation may have got more lanes than this process knows of.
  for (let [asked, count] = [0, catalog.lanes.count]; asked < count; ) {
    const answers = await askWriters(nats, search, new Lanes(count).clicks.slice(asked));
    asked = count;
    for (const answer of answers) {
      if (answer === undefined) return undefined;
      clicks.push(...answer.clicks);
      completeToMs = Math.min(completeToMs, answer.completeToMs);
      count = Math.max(count, Math.min(answer.lanes ?? 0, LANES_MAX));
    }
  }
  return { clicks, completeToMs };
}

async function askWriters(
  nats: ClickSources["nats"],
  { kind, value, workspaceIds, offerId }: AdClickSearch,
  lanes: readonly number[],
): Promise<(WriterAnswer<ClickRecord> | undefined)[]> {
  const queries = workspaceIds.flatMap((workspaceId) =>
    lanes.map(
      (shard) => ({ by: "ad-click-id", shard, workspaceId, kind, value, offerId }) as const,
    ),
  );
  return await Promise.all(queries.map(async (query) => await askWriter(nats, query, ClickRecord)));
}
