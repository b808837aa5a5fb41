import { z } from "zod";
import { tableOn } from "../../../schemas/clickhouse/all-shards.ts";
import type { ClickhouseReader } from "../../../schemas/clickhouse/connect.ts";
import type { AdClickIdKind } from "../../../schemas/events/click-query.ts";
import type { ClickRecord } from "../../../schemas/events/click-record.ts";
import { Batcher } from "../../../schemas/host/batcher.ts";
import { latestClick, rankOf } from "./latest-click.ts";
import { selectClicks, selectFromQuorumUnlessAway, selectUnlessAway } from "./select-clicks.ts";
import { clickhouseTime } from "./stored-clicks.ts";

export type StoredAdSearch = {
  readonly kind: AdClickIdKind;
  readonly value: string;
  readonly workspaceIds: readonly number[];
  /** Clicks on this offer win; 0 when no offer was named (G113). */
  readonly offerId: number;
};

/** At most one click; "away" when ClickHouse cannot answer in time. */
type Answer = readonly ClickRecord[] | "away";

const Latest = z.object({
  value: z.string(),
  workspace_id: z.int(),
  asked_offer: z.int(),
  at_ms: z.int(),
});
type Latest = z.infer<typeof Latest>;

const SEARCHES_PER_STATEMENT_MAX = 100;
/** An upper bound: the pools of reports and look-ups admit fewer. */
const WAITING_MAX = 10_000;

/**
 * Finds the click in ClickHouse that G113 puts first, in two statements. The first reads the time of that click from the projection
 * `latest_<kind>`, which has one row for all clicks with the same ID and offer, by the hash of the ID. The second reads the row with that time. So a search
 * reads the same amount whether the ID is on millions of clicks or on one. Searches that arrive together share both statements.
 */
export class StoredAdClicks {
  readonly #statements: Batcher<StoredAdSearch, Answer>;

  constructor(
    clickhouse: ClickhouseReader,
    limits: { readonly flushesMax: number; readonly restMs?: number },
  ) {
    this.#statements = new Batcher({
      flush: (together) => findAll(clickhouse, together),
      itemsMax: SEARCHES_PER_STATEMENT_MAX,
      waitingMax: WAITING_MAX,
      ...limits,
    });
  }

  find(search: StoredAdSearch): Promise<Answer> {
    return this.#statements.ask(search);
  }
}

async function findAll(
  clickhouse: ClickhouseReader,
  together: readonly StoredAdSearch[],
): Promise<Answer[]> {
  const answers = new Map<StoredAdSearch, Answer>();
  for (const kind of new Set(together.map((search) => search.kind))) {
    const alike = together.filter((search) => search.kind === kind);
    for (const [search, answer] of await findOfKind(clickhouse, kind, alike))
      answers.set(search, answer);
  }
  return together.map((search) => answers.get(search) ?? "away");
}

async function findOfKind(
  clickhouse: ClickhouseReader,
  kind: AdClickIdKind,
  searches: readonly StoredAdSearch[],
): Promise<Map<StoredAdSearch, Answer>> {
  const answers = new Map<StoredAdSearch, Answer>();
  const known = await selectLatest(clickhouse, kind, searches);
  if (known === "away") return answers;
  const times = new Map<StoredAdSearch, number>();
  for (const search of searches) {
    const ts = latestTime(known.get(search.value) ?? [], search);
    if (ts === undefined) answers.set(search, []);
    else times.set(search, ts);
  }
  if (times.size === 0) return answers;
  const found = [...times.keys()];
  const clicks = await selectClicks(clickhouse, {
    where: `click.workspace_id in {workspaceIds: Array(UInt32)} and click.ts in {times: Array(DateTime64(3, 'UTC'))}
      and click.${kind} in {values: Array(String)}`,
    order: "",
    params: { ...paramsOf(found), times: [...new Set(times.values())].map(clickhouseTime) },
  });
  if (clicks === "away") return answers;
  const byValue = groupBy(clicks, (click) => click[kind]);
  for (const [search, ts] of times) {
    const latest = latestClick(
      (byValue.get(search.value) ?? []).filter(
        (click) => click.ts === ts && search.workspaceIds.includes(click.workspace_id),
      ),
      search.offerId,
    );
    // Without `latest`, the click was erased between the two statements, and an older one may be the latest now.
    answers.set(search, latest === undefined ? "away" : [latest]);
  }
  return answers;
}

/**
 * The latest times of each ID: on each offer that is named with it, on all other offers together, and without an offer. In a cluster each replica
 * has its own latest time.
 */
async function selectLatest(
  clickhouse: ClickhouseReader,
  kind: AdClickIdKind,
  searches: readonly StoredAdSearch[],
): Promise<ReadonlyMap<string, readonly Latest[]> | "away"> {
  const { cluster } = clickhouse;
  const offerIds = [...new Set(searches.map(({ offerId }) => offerId))].filter((id) => id !== 0);
  // A part that no merge has met yet has no projection: its rows are read.
  const select = `with arrayMap(value -> sipHash64(value), {values: Array(String)}) as hashes
      select {values: Array(String)}[indexOf(hashes, sipHash64(click.${kind}))] as value, click.workspace_id as workspace_id,
        if(has({offerIds: Array(UInt32)}, click.offer_id), click.offer_id, if(click.offer_id = 0, 0, {otherOffer: UInt32})) as asked_offer,
        toUnixTimestamp64Milli(max(click.ts)) as at_ms
      from ${tableOn(cluster, "click")}
      where click.workspace_id in {workspaceIds: Array(UInt32)} and sipHash64(click.${kind}) in hashes
      group by sipHash64(click.${kind}), click.workspace_id, asked_offer`;
  const params = { ...paramsOf(searches), offerIds, otherOffer: OTHER_OFFER };
  // Choosing between all projections would take ClickHouse as long as reading this projection.
  const settings = { preferred_optimize_projection_name: `latest_${kind}` };
  const rows =
    cluster === undefined
      ? await selectUnlessAway(clickhouse, Latest, { text: select, params, settings })
      : await selectFromQuorumUnlessAway(clickhouse, Latest, {
          name: "conversions.latest-ad-clicks",
          select,
          columns: Object.keys(Latest.shape),
          params,
          settings,
        });
  return rows === "away" ? rows : groupBy(rows, ({ value }) => value);
}

/** No offer has this number. It groups all offers that no search named. */
const OTHER_OFFER = 4_294_967_295;

function latestTime(known: readonly Latest[], search: StoredAdSearch): number | undefined {
  const rank = ({ asked_offer }: Latest): number =>
    rankOf({ offer_id: asked_offer }, search.offerId);
  const [best] = known
    .filter(({ workspace_id }) => search.workspaceIds.includes(workspace_id))
    .toSorted((a, b) => rank(b) - rank(a) || b.at_ms - a.at_ms);
  return best?.at_ms;
}

function groupBy<Row>(
  rows: readonly Row[],
  keyOf: (row: Row) => string,
): ReadonlyMap<string, readonly Row[]> {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const group = groups.get(keyOf(row));
    if (group === undefined) groups.set(keyOf(row), [row]);
    else group.push(row);
  }
  return groups;
}

function paramsOf(searches: readonly StoredAdSearch[]): Record<string, unknown> {
  return {
    workspaceIds: [...new Set(searches.flatMap(({ workspaceIds }) => workspaceIds))],
    values: [...new Set(searches.map(({ value }) => value))],
  };
}
