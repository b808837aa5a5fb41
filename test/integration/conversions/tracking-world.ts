import type { ClickQuery } from "../../../schemas/events/click-query.ts";
import { ClickRecord } from "../../../schemas/events/click-record.ts";
import type {
  ConversionCommand,
  ConversionCommandReply,
} from "../../../schemas/events/conversion-command.ts";
import type { PostbackReply, PostbackRequest } from "../../../schemas/events/postback-request.ts";
import { ClickIdMint } from "../../../schemas/ids/click-id.ts";
import type { Pool } from "../../../schemas/postgres/connect.ts";
import { systemClock } from "../../../schemas/time/clock.ts";
import { FOUR_LANES } from "../../samples/four-lanes.ts";
import { conversionLane, type FollowedCatalog, followCatalog } from "../../services/lanes.ts";
import type { ServerUrls, Template } from "../../services/servers.ts";
import { insertRow, type OpenStores, openStores, Stores } from "../../services/stores.ts";
import { pause } from "../../system/service.ts";
import { standInForWriters } from "../clicks/stand-in-writers.ts";

const WORKSPACE_TOKEN = "ws-token";
export const ADVERTISER_TOKEN = "adv-token";

export type ClickOptions = Partial<ClickRecord> & { readonly ageMs?: number };
type SentReport = Partial<Omit<PostbackRequest, "params">> & { readonly timeoutMs?: number };
export type ReportOptions = SentReport & {
  /** For tests about outages and waiting times: the first answer is the one that counts. */
  readonly isSentOnce?: boolean;
};
export type OfferSettings = Readonly<Record<string, unknown>>;

type Seed = {
  readonly workspaceId: number;
  readonly advertiserId: number;
  readonly affiliateId: number;
};

/**
 * Stores with a workspace in them, and the conversion lane at work on them. Clicks are put where their writer would have them: into
 * ClickHouse, or into the writer's memory.
 */
export class TrackingWorld extends Stores {
  /** What the writers of the shards know, as they would answer. */
  readonly young = new Map<string, ClickRecord>();
  readonly workspaceId: number;
  readonly advertiserId: number;
  readonly affiliateId: number;
  readonly #followed: FollowedCatalog;
  readonly #lanes: { close(): Promise<void> }[] = [];
  readonly #mint: ClickIdMint;
  #offers = 0;

  private constructor(stores: OpenStores, followed: FollowedCatalog, seed: Seed) {
    super(stores);
    this.#followed = followed;
    this.workspaceId = seed.workspaceId;
    this.advertiserId = seed.advertiserId;
    this.affiliateId = seed.affiliateId;
    const { secret } = followed.catalog;
    this.#mint = new ClickIdMint({ producer: 7, secret, clock: systemClock });
    this.atEnd(async () => {
      await this.closeLanes();
      await followed.feed.close();
    });
  }

  /** `lanes`: how many conversion processors share the work. `servers`: by default the servers of the run. */
  static async open(
    options: { readonly lanes?: number; readonly servers?: ServerUrls & Template } = {},
  ): Promise<TrackingWorld> {
    const stores = await openStores({ label: "conversions", servers: options.servers });
    const ids = await insertSeed(stores.pool);
    const world = new TrackingWorld(stores, await followCatalog(stores.pool), ids);
    for (let lane = 0; lane < (options.lanes ?? 1); lane += 1) world.startLane();
    await world.nats.connection.flush();
    return world;
  }

  get catalog(): FollowedCatalog["catalog"] {
    return this.#followed.catalog;
  }

  startLane(): void {
    this.#lanes.push(conversionLane(this, this.#followed));
  }

  /**
   * Stands in for the writers of all shards: clicks made with `addYoungClick` are answered by it. Without it nobody answers, as
   * when no writer runs.
   */
  startWriters(answer: { completeToMs: () => number } = { completeToMs: () => Date.now() }): void {
    standInForWriters(this.nats, (query, lane) => ({
      completeToMs: answer.completeToMs(),
      clicks: this.#youngClicks(query, lane).map((click) => JSON.stringify(click)),
    }));
  }

  #youngClicks(query: ClickQuery, shard: number): ClickRecord[] {
    if (query.by === "unstored" || query.by === "stored")
      throw new Error("no test of conversions lists clicks");
    if (query.by === "id") {
      const click = this.young.get(query.clickId);
      return click === undefined ? [] : [click];
    }
    return [...this.young.values()].filter(
      (click) =>
        click[query.kind] === query.value &&
        click.workspace_id === query.workspaceId &&
        FOUR_LANES.ofOffer(click.offer_id) === shard,
    );
  }

  /** An offer with its default event; further columns by name. Known to the lane when this answers. */
  async addOffer(settings: OfferSettings = {}): Promise<number> {
    this.#offers += 1;
    const offer = {
      workspace_id: this.workspaceId,
      advertiser_id: this.advertiserId,
      code: `OFFER${this.#offers}`,
      name: "An offer",
      destination_url: "https://shop.example/",
      currency: "USD",
      payout_type: "cpa",
      payout: "10",
      revenue_type: "rpa",
      revenue: "15",
      ...settings,
    };
    const id = await this.insert("offer", offer);
    const { payout_type, payout, revenue_type, revenue } = offer;
    await this.addEvent(id, {
      code: "default",
      is_default: true,
      payout_type,
      payout,
      revenue_type,
      revenue,
    });
    return id;
  }

  async addEvent(offerId: number, settings: OfferSettings): Promise<number> {
    return await this.insert("offer_event", { offer_id: offerId, name: "An event", ...settings });
  }

  /** As {@link Stores.insert}; known to the lane when this answers. */
  override async insert(table: string, columns: OfferSettings): Promise<number> {
    const id = await super.insert(table, columns);
    await this.#followed.feed.refresh();
    return id;
  }

  /** Runs a statement on the catalog; known to the lane when this answers. */
  async change(text: string, values: readonly unknown[] = []): Promise<void> {
    await this.pool.query({ text, values });
    await this.#followed.feed.refresh();
  }

  aClick(options: ClickOptions = {}): ClickRecord {
    const { ageMs = 60_000, ...fields } = options;
    const ts = this.#mint.nowMs() - ageMs;
    return ClickRecord.parse({
      click_id: this.#mint.mint(ts, FOUR_LANES.ofOffer(fields.offer_id ?? 0)),
      ts,
      workspace_id: this.workspaceId,
      link_type: "affiliate",
      status: "redirect",
      advertiser_id: this.advertiserId,
      affiliate_id: this.affiliateId,
      ...fields,
    });
  }

  /** A click that ClickHouse has. */
  async addClick(options: ClickOptions = {}): Promise<ClickRecord> {
    const click = this.aClick(options);
    await this.storeClicks([click]);
    return click;
  }

  async storeClicks(clicks: readonly ClickRecord[]): Promise<void> {
    const names = Object.keys(ClickRecord.shape).filter((name) => name !== "may_be_unique");
    const values = names.map((name) => {
      if (name === "click_id") return "unhex(click_id)";
      return name === "ts" ? "fromUnixTimestamp64Milli(ts)" : name;
    });
    await this.clickhouse.command({
      query: `insert into click (${names.join(", ")}) select ${values.join(", ")} from format(JSONEachRow, {rows: String})`,
      query_params: { rows: clicks.map((click) => JSON.stringify(click)).join("\n") },
    });
  }

  addYoungClick(options: ClickOptions = {}): ClickRecord {
    const click = this.aClick({ ageMs: 0, ...options });
    this.young.set(click.click_id, click);
    return click;
  }

  /**
   * Sends a `/pb` with the workspace's token, as ingress would. Sends it once more after an outage, as its sender would: on a busy
   * machine the lookup of a click may take longer than a report waits.
   */
  async report(
    params: Record<string, string>,
    options: ReportOptions = {},
  ): Promise<PostbackReply> {
    const { isSentOnce = false, ...given } = options;
    const reply = await this.#reportOnce(params, given);
    const isBusy = reply.result === "unavailable" && !isSentOnce;
    return isBusy ? await this.#reportOnce(params, given) : reply;
  }

  async #reportOnce(
    params: Record<string, string>,
    { timeoutMs = 20_000, ...given }: SentReport,
  ): Promise<PostbackReply> {
    const request: PostbackRequest = {
      endpoint: "pb",
      params: given.endpoint === "px" ? params : { token: WORKSPACE_TOKEN, ...params },
      cookieClickId: "",
      host: "localhost",
      ip: "203.0.113.7",
      userAgent: "test",
      receivedAtMs: Date.now(),
      ...given,
    };
    const { subjects, connection } = this.nats;
    const reply = await connection.request(subjects.postback, JSON.stringify(request), {
      timeout: timeoutMs,
    });
    return reply.json<PostbackReply>();
  }

  /** Repeats a report as its sender would: until it has an answer that is no outage. */
  async reportUntilAnswered(
    params: Record<string, string>,
    options: SentReport = {},
  ): Promise<PostbackReply> {
    const deadlineMs = Date.now() + 60_000;
    for (;;) {
      try {
        const reply = await this.#reportOnce(params, { timeoutMs: 2_000, ...options });
        if (reply.httpStatus !== 503) return reply;
      } catch (error) {
        if (Date.now() > deadlineMs) throw error;
      }
      if (Date.now() > deadlineMs) throw new Error("no answer but outages within a minute");
      await pause(20);
    }
  }

  async command(command: ConversionCommand): Promise<ConversionCommandReply> {
    const { subjects, connection } = this.nats;
    const reply = await connection.request(subjects.conversionCommand, JSON.stringify(command), {
      timeout: 20_000,
    });
    return reply.json<ConversionCommandReply>();
  }

  async conversion(id: unknown): Promise<Record<string, unknown>> {
    const [row] = await this.rows("select * from conversion where id = $1", [id]);
    if (row === undefined) throw new Error(`no conversion ${String(id)}`);
    return row;
  }

  /** As when their processes end in good order. */
  async closeLanes(): Promise<void> {
    await Promise.all(this.#lanes.splice(0).map((lane) => lane.close()));
  }
}

async function insertSeed(pool: Pool): Promise<Seed> {
  const workspaceId = await insertRow(pool, "workspace", {
    slug: "w",
    name: "W",
    postback_token: WORKSPACE_TOKEN,
  });
  const ofWorkspace = { workspace_id: workspaceId, currency: "USD" };
  const advertiser = { ...ofWorkspace, name: "A", postback_token: ADVERTISER_TOKEN };
  const affiliate = { ...ofWorkspace, name: "P", code: "PARTNR" };
  return {
    workspaceId,
    advertiserId: await insertRow(pool, "advertiser", advertiser),
    affiliateId: await insertRow(pool, "affiliate", affiliate),
  };
}
