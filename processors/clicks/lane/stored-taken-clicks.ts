import { z } from "zod";
import type { Catalog } from "../../../schemas/catalog/catalog.ts";
import type { Offer } from "../../../schemas/catalog/records.ts";
import { allShards } from "../../../schemas/clickhouse/all-shards.ts";
import type { Clickhouse } from "../../../schemas/clickhouse/connect.ts";
import { ClickTaken } from "../../../schemas/events/click-notice.ts";
import { TAKEN } from "../caps/stored-cap-clicks.ts";
import type { LaneShare } from "../rows/lane-share.ts";

/** Limit for one lane; an ingress remembers 200,000 for all lanes. */
const TAKEN_CLICKS_MAX = 50_000;
const OFFERS_MAX = 5_000;
const TIMEOUT_SECONDS = 10;
/** A click that nobody saw is a bot's on the device of a person (G240). */
const SEEN = "not (is_bot and device_type != 'bot')";
const SECOND_MS = 1_000;

const Rows = z.array(ClickTaken);

/**
 * The latest clicks on the lane's offers that would make another click a duplicate (G145), newest first. An ingress that has just
 * started does not remember them.
 */
export async function selectTakenClicks(
  servers: readonly Clickhouse[],
  { catalog, share, lane }: { catalog: Catalog; share: LaneShare; lane: number },
  nowMs: number,
): Promise<ClickTaken[]> {
  const offers = [...catalog.offers.values()].filter(
    (offer) => offer.duplicate_click_seconds > 0 && share.lanes.ofOffer(offer.id) === lane,
  );
  if (offers.length === 0) return [];
  const checked = offers.slice(0, OFFERS_MAX);
  const seconds = new Map(checked.map((offer) => [offer.id, offer.duplicate_click_seconds]));
  const fromMs = nowMs - Math.max(...seconds.values()) * SECOND_MS;
  const taken: ClickTaken[] = [];
  for (const clickhouse of servers)
    taken.push(...(await selectOn(clickhouse, { lanes: share.sources, offers: checked, fromMs })));
  return taken
    .filter(([id, , , atMs]) => atMs > nowMs - (seconds.get(id) ?? 0) * SECOND_MS)
    .toSorted((a, b) => b[3] - a[3])
    .slice(0, TAKEN_CLICKS_MAX);
}

/** Of each visit the latest click on this server. */
async function selectOn(
  clickhouse: Clickhouse,
  {
    lanes,
    offers,
    fromMs,
  }: {
    readonly lanes: readonly number[];
    readonly offers: readonly Offer[];
    readonly fromMs: number;
  },
): Promise<ClickTaken[]> {
  const answer = await clickhouse.query({
    query: `select offer_id, affiliate_id, visitor, toUnixTimestamp64Milli(max(ts)) as at_ms
      from ${allShards(clickhouse, "click")}
      where workspace_id in {workspaces: Array(UInt32)} and _lane in {lanes: Array(UInt8)}
        and ts > fromUnixTimestamp64Milli({fromMs: Int64}, 'UTC')
        and offer_id in {offers: Array(UInt32)} and affiliate_id != 0 and ${TAKEN} and ${SEEN}
      group by offer_id, affiliate_id, visitor
      order by at_ms desc limit ${TAKEN_CLICKS_MAX}`,
    query_params: {
      lanes,
      fromMs,
      workspaces: [...new Set(offers.map((offer) => offer.workspace_id))],
      offers: offers.map(({ id }) => id),
    },
    format: "JSONCompactEachRow",
    clickhouse_settings: { max_execution_time: TIMEOUT_SECONDS },
  });
  return Rows.parse(await answer.json());
}
