import type { Catalog } from "../../../schemas/catalog/catalog.ts";
import { askWriter, type WriterAnswer } from "../../../schemas/click-lookup/ask-writer.ts";
import {
  type FoundClick as Found,
  findClickById as findById,
} from "../../../schemas/click-lookup/find-click-by-id.ts";
import { JOURNALED_MS } from "../../../schemas/click-lookup/journaled.ts";
import type { Clickhouse } from "../../../schemas/clickhouse/connect.ts";
import { ClickRecord } from "../../../schemas/events/click-record.ts";
import { CLICK_LANES } from "../../../schemas/events/shards.ts";
import { clickIdParts, isGenuineClickId } from "../../../schemas/ids/click-id.ts";
import type { Nats } from "../../../schemas/nats/connect.ts";
import type { Clock } from "../../../schemas/time/clock.ts";
import { latestClick, rankOf } from "./latest-click.ts";
import type { StoredAdClicks, StoredAdSearch } from "./stored-ad-clicks.ts";
import type { StoredClicks } from "./stored-clicks.ts";
import type { WorkPool } from "./work-pool.ts";

export type FoundClick = Found<ClickRecord>;

export type ClickSources = {
  readonly nats: Nats;
  readonly clickhouse: Clickhouse;
  readonly catalog: Catalog;
  readonly clock: Clock;
  readonly storedClicks: StoredClicks;
  readonly storedAdClicks: StoredAdClicks;
  /** Of callers without a token: they share statements of their own, so that no postback waits for them. */
  readonly strangersAdClicks: StoredAdClicks;
  /** Of callers without a token, in questions to writers. */
  readonly strangersSearches: WorkPool;
};

const WAIT_MS = 2_000;
const POLL_MS = 50;
/** The first questions after a click come faster: it is on its way for a few milliseconds. */
const POLL_MS_MIN = 5;
/** Strangers ask writers that are behind less and less often: their questions take the processor time that postbacks need. */
const STRANGERS_POLL_MS = 400;
/** How long a ClickHouse is waited for whose answer will hardly change anything. */
const STORED_MS = 250;
/** A later click with the id may be on its way: so long nobody is content with the one that is known. */
const LATER_MS = 500;
/** Workspaces that one host serves and that are asked for an ad-platform id without an offer. */
const WORKSPACES_MAX = 16;

const NONE: FoundClick = { kind: "none" };
const UNAVAILABLE: FoundClick = { kind: "unavailable" };

/**
 * The click with this id, in any workspace. "none" is only said of an id that is not genuine, of one so old that no journal has it any
 * more, and of one whose journal was given up, after PRODUCER_PATIENCE_HOURS or by command.
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
  /** When the report came in: "none" is only said when every click answered before is known. */
  readonly receivedAtMs: number;
};

/**
 * The latest click with an ad-platform id: of the named offer, else of any offer, else without one (G113). ClickHouse is asked
 * at once, and once more when the writers know every click answered before the question: until then only they bring news. What
 * is found before that is the answer only when it takes longer than {@link LATER_MS}.
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
    // The writers first: what leaves their memory meanwhile is in ClickHouse by then.
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
 * The same for pixels and landing pages, which anybody may call with any id: such searches take turns, so that they leave
 * postbacks the time of this process and its connections. Unavailable when too many are waiting.
 */
export async function findClickByAdIdForStranger(
  sources: ClickSources,
  search: AdClickSearch,
): Promise<FoundClick> {
  const questions = CLICK_LANES.length * Math.min(search.workspaceIds.length, WORKSPACES_MAX);
  const own = { ...sources, storedAdClicks: sources.strangersAdClicks };
  const found = sources.strangersSearches.run(
    () => findClickByAdId(own, search, STRANGERS_POLL_MS),
    questions,
  );
  return (await found) ?? UNAVAILABLE;
}

/**
 * What ClickHouse knows of an ad-platform id, for a search that goes on while it does not answer: a ClickHouse that hangs must
 * not keep us from asking the writers again, who have a young click any moment (P12).
 */
class StoredSearch {
  readonly #sources: ClickSources;
  readonly #search: AdClickSearch;
  readonly #startedAtMs: number;
  #asked: Promise<void> | undefined;
  #isAway = false;
  /** The last answer; undefined before the first. */
  clicks: readonly ClickRecord[] | undefined;
  /** Whether it was asked for when the writers knew all clicks in question. */
  isComplete = false;

  constructor(sources: ClickSources, search: AdClickSearch) {
    this.#sources = sources;
    this.#search = search;
    this.#startedAtMs = performance.now();
  }

  get isAsking(): boolean {
    return this.#asked !== undefined;
  }

  /** Asks if there is something new to learn, and waits for an answer as long as it is told. */
  async ask({ isComplete, waitMs }: { isComplete: boolean; waitMs: number }): Promise<void> {
    const isNeeded = this.clicks === undefined || (isComplete && !this.isComplete);
    if (!isNeeded) return;
    if (this.#asked === undefined) {
      this.#asked = this.#select(isComplete);
      // When the search is over, nobody waits for this answer any more.
      this.#asked.catch(() => undefined);
    }
    await Promise.race([this.#asked, pause(waitMs)]);
  }

  /** The click to answer with beside these of the writers; undefined while ClickHouse may know a better one. */
  bestWith(young: readonly ClickRecord[]): ClickRecord | undefined {
    const best = latestClick([...young, ...(this.clicks ?? [])], this.#search.offerId);
    if (best === undefined) return undefined;
    return this.clicks !== undefined || this.#isDispensable(best) ? best : undefined;
  }

  /**
   * Whether the search need not wait for ClickHouse: nothing there could go before this click except by being newer, which a
   * click that is stored hardly is, and ClickHouse is away or slow.
   */
  #isDispensable(click: ClickRecord): boolean {
    const { offerId } = this.#search;
    if (rankOf(click, offerId) < (offerId === 0 ? 1 : 2)) return false;
    return this.#isAway || performance.now() - this.#startedAtMs >= STORED_MS;
  }

  async #select(isComplete: boolean): Promise<void> {
    const clicks = await this.#sources.storedAdClicks.find(this.#search);
    this.#asked = undefined;
    this.#isAway = clicks === "away";
    if (clicks === "away") return;
    this.clicks = clicks;
    this.isComplete = isComplete;
  }
}

/** Undefined unless all of them answer. */
async function askAllWriters(
  { nats }: ClickSources,
  { kind, value, workspaceIds, offerId }: AdClickSearch,
): Promise<Pick<WriterAnswer<ClickRecord>, "clicks" | "completeToMs"> | undefined> {
  const answers = await Promise.all(
    workspaceIds.flatMap((workspaceId) =>
      CLICK_LANES.map((shard) =>
        askWriter(
          nats,
          { by: "ad-click-id", shard, workspaceId, kind, value, offerId },
          ClickRecord,
        ),
      ),
    ),
  );
  const clicks: ClickRecord[] = [];
  let completeToMs = Number.POSITIVE_INFINITY;
  for (const answer of answers) {
    if (answer === undefined) return undefined;
    clicks.push(...answer.clicks);
    completeToMs = Math.min(completeToMs, answer.completeToMs);
  }
  return { clicks, completeToMs };
}

function pause(ms: number): Promise<"pending"> {
  return new Promise((resolve) => {
    setTimeout(() => resolve("pending"), ms);
  });
}
