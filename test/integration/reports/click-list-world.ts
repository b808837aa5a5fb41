import { z } from "zod";
import { getClick } from "../../../api/traffic/clicks/get-click.ts";
import { listClicks } from "../../../api/traffic/clicks/list-clicks.ts";
import type { ClickQuery } from "../../../schemas/events/click-query.ts";
import { FOUR_LANES } from "../../samples/four-lanes.ts";
import { standInForWriters } from "../clicks/stand-in-writers.ts";
import { aClick } from "./facts.ts";
import type { LedgerClick } from "./ledger.ts";
import { type Caller, ReportWorld, type Row } from "./report-world.ts";

export const AT_MS = Date.parse("2025-02-03T10:00:00Z");
const NOW_MS = Date.parse("2025-02-03T20:00:00Z");

const AnyRow = z.record(z.string(), z.unknown());
const List = z.looseObject({ data: z.array(AnyRow), next_cursor: z.string().nullable() });
const Detail = z.object({
  data: z.object({
    click: AnyRow,
    extra: AnyRow,
    offer: AnyRow,
    affiliate: AnyRow,
    conversions: z.array(AnyRow),
  }),
});

/** Clicks of one day, and stand-ins for the writers of all shards. */
export class ClickListWorld {
  readonly world: ReportWorld;
  /** Clicks of the first partner on the first offer, newest first. */
  readonly own: readonly [LedgerClick, ...LedgerClick[]];
  /** A click of the second partner on an offer of the second advertiser. */
  readonly foreign: LedgerClick;
  /** A click of another workspace. */
  readonly elsewhere: LedgerClick;
  /** What the writers know; `completeToMs` is how far they are, `storedToMs` until when ClickHouse has everything. */
  readonly onTheWay: LedgerClick[] = [];
  completeToMs = Number.MAX_SAFE_INTEGER;
  storedToMs = Number.MAX_SAFE_INTEGER;

  private constructor(world: ReportWorld) {
    const { offerIds, advertiserIds, affiliateIds, workspaceId } = world.seed;
    this.world = world;
    const atMinute = (minutes: number): LedgerClick =>
      aClick(world, {
        ts: AT_MS + minutes * 60_000,
        sub1: "s1",
        source_id: "src",
        gclid: `g${minutes}`,
        ext_keyword: "red",
      });
    const twins = [atMinute(2), atMinute(2)].toSorted((a, b) => (a.click_id < b.click_id ? 1 : -1));
    this.own = [atMinute(3), ...twins, atMinute(1)];
    this.foreign = aClick(world, {
      ts: AT_MS,
      offer_id: offerIds[1],
      advertiser_id: advertiserIds[1],
      affiliate_id: affiliateIds[1],
      gclid: "g3",
      status: "blocked",
      status_reason: "scheme",
    });
    this.elsewhere = aClick(world, { ts: AT_MS, workspace_id: workspaceId + 1, gclid: "g3" });
  }

  async close(): Promise<void> {
    await this.world.close();
  }

  static async open(): Promise<ClickListWorld> {
    const world = await ReportWorld.open();
    world.nowMs = NOW_MS;
    const clicks = new ClickListWorld(world);
    const yesterday = aClick(world, { ts: AT_MS - 86_400_000, gclid: "old" });
    await world.store({ clicks: [...clicks.own, clicks.foreign, clicks.elsewhere, yesterday] });
    await clicks.#startWriters();
    return clicks;
  }

  async list(
    query: Record<string, string> = {},
    caller: Caller = "admin",
  ): Promise<z.infer<typeof List>> {
    return List.parse(await this.world.get(listClicks, query, { caller }));
  }

  /** X-Tracker-Complete-Until of a list. */
  async completeUntil(query: Record<string, string>): Promise<string | undefined> {
    const { headers = {} } = await this.world.run(listClicks, query);
    return headers["X-Tracker-Complete-Until"];
  }

  async detail(clickId: string, caller: Caller = "admin"): Promise<z.infer<typeof Detail>["data"]> {
    const path = { click_id: clickId };
    return Detail.parse(await this.world.get(getClick, {}, { caller, path })).data;
  }

  async #startWriters(): Promise<void> {
    const { nats } = this.world;
    standInForWriters(nats, (query) => {
      const { completeToMs } = this;
      if (query.by === "stored") return { completeToMs: this.storedToMs, clicks: [] };
      const found = this.onTheWay.filter((click) => isAskedFor(click, query));
      return { completeToMs, clicks: found.map(rowText) };
    });
    await nats.connection.flush();
  }
}

export function ids(rows: readonly Row[]): unknown[] {
  return rows.map((row) => row["click_id"]);
}

function isAskedFor(
  click: LedgerClick,
  query: Exclude<ClickQuery, { readonly by: "stored" }>,
): boolean {
  if (query.by === "id") return click.click_id === query.clickId;
  return (
    click.offer_id % FOUR_LANES.clicks.length === query.shard &&
    click.workspace_id === query.workspaceId &&
    Reflect.get(click, query.kind) === query.value
  );
}

/** As the writer keeps it: the record, and where it stands in its producer's sequence. */
function rowText(click: LedgerClick): string {
  return `${JSON.stringify(click).slice(0, -1)},"_producer":9,"_epoch":1,"_position":0}`;
}
