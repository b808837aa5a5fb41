import { randomBytes } from "node:crypto";
import { inject } from "vitest";
import { startConversions } from "../../../processors/conversions/start.ts";
import { Catalog } from "../../../schemas/catalog/catalog.ts";
import { CatalogFeed } from "../../../schemas/catalog-feed/follow.ts";
import { type Clickhouse, openClickhouse } from "../../../schemas/clickhouse/connect.ts";
import { migrateClickhouse } from "../../../schemas/clickhouse/migrate.ts";
import { ClickAnswer, ClickQuery } from "../../../schemas/events/click-query.ts";
import { ClickRecord } from "../../../schemas/events/click-record.ts";
import type {
  ConversionCommand,
  ConversionCommandReply,
} from "../../../schemas/events/conversion-command.ts";
import type { PostbackReply, PostbackRequest } from "../../../schemas/events/postback-request.ts";
import { CLICK_LANES, shardOfOffer } from "../../../schemas/events/shards.ts";
import { openLog } from "../../../schemas/host/log.ts";
import { Metrics } from "../../../schemas/host/metrics.ts";
import { ClickIdMint } from "../../../schemas/ids/click-id.ts";
import { connectNats, type Nats } from "../../../schemas/nats/connect.ts";
import { OutgoingClient } from "../../../schemas/outgoing/outgoing-client.ts";
import { openPool, type Pool } from "../../../schemas/postgres/connect.ts";
import { migratePostgres } from "../../../schemas/postgres/migrate.ts";
import { systemClock } from "../../../schemas/time/clock.ts";
import { createPostgresDatabase, dropPostgresDatabase } from "../../services/fresh-database.ts";

const WORKSPACE_TOKEN = "ws-token";
export const ADVERTISER_TOKEN = "adv-token";

export type ClickOptions = Partial<ClickRecord> & { readonly ageMs?: number };
export type ReportOptions = Partial<Omit<PostbackRequest, "params">> & {
  readonly timeoutMs?: number;
};
export type ServerUrls = {
  readonly postgres: string;
  readonly nats: string;
  readonly clickhouse: string;
};
export type OfferSettings = Readonly<Record<string, unknown>>;

/**
 * A database, a subject prefix and a ClickHouse database of their own, a workspace in them, and the conversion lane at work on
 * them. Clicks are put where their writer would have them: into ClickHouse, or into the writer's memory.
 */
export class TrackingWorld {
  readonly pool: Pool;
  readonly nats: Nats;
  readonly clickhouse: Clickhouse;
  readonly catalog: Catalog;
  readonly metrics = new Metrics();
  /** What the writers of the shards know, as they would answer. */
  readonly young = new Map<string, ClickRecord>();
  workspaceId = 0;
  advertiserId = 0;
  affiliateId = 0;
  /** What a process of the service needs to work on this world. */
  readonly env: Readonly<Record<string, string>>;
  readonly #feed: CatalogFeed;
  readonly #servers: ServerUrls;
  readonly #lanes: { close(): Promise<void> }[] = [];
  readonly #mint: ClickIdMint;
  readonly #log = openLog({ process: "test", level: process.env["TEST_LOG_LEVEL"] ?? "silent" });
  readonly #outgoing = new OutgoingClient({ allowLoopback: false });
  #offers = 0;

  private constructor(parts: {
    pool: Pool;
    nats: Nats;
    clickhouse: Clickhouse;
    catalog: Catalog;
    feed: CatalogFeed;
    servers: ServerUrls;
    env: Readonly<Record<string, string>>;
  }) {
    this.pool = parts.pool;
    this.nats = parts.nats;
    this.clickhouse = parts.clickhouse;
    this.catalog = parts.catalog;
    this.#feed = parts.feed;
    this.#servers = parts.servers;
    this.env = parts.env;
    this.#mint = new ClickIdMint({ producer: 7, secret: parts.catalog.secret, clock: systemClock });
  }

  /**
   * `lanes`: how many conversion processors share the work. `servers` are those of the run if not given; the URLs lead to the
   * same ones by another way.
   */
  static async open(
    options: {
      lanes?: number;
      servers?: ServerUrls;
      postgresUrl?: string;
      clickhouseUrl?: string;
    } = {},
  ): Promise<TrackingWorld> {
    const name = `conversions_test_${randomBytes(5).toString("hex")}`;
    const servers = options.servers ?? serverUrls();
    const server = options.postgresUrl ?? servers.postgres;
    await createPostgresDatabase(server, name);
    const pool = openPool({ url: databaseUrl(server, name), applicationName: "test" });
    await migratePostgres(pool);
    const clickhouseUrl = databaseUrl(options.clickhouseUrl ?? servers.clickhouse, name);
    await migrateClickhouse(clickhouseUrl);
    const clickhouse = openClickhouse({ url: clickhouseUrl, applicationName: "test" });
    const nats = await connectNats({ url: servers.nats, name: "test", prefix: name });
    const catalog = new Catalog();
    const log = openLog({ process: "test", level: "silent" });
    const ids = await seed(pool);
    const feed = await CatalogFeed.start({ catalog, db: pool, log, metrics: new Metrics() });
    const env = {
      POSTGRES_URL: databaseUrl(servers.postgres, name),
      CLICKHOUSE_URL: clickhouseUrl,
      NATS_URL: servers.nats,
      NATS_PREFIX: name,
    };
    const world = new TrackingWorld({ pool, nats, clickhouse, catalog, feed, servers, env });
    Object.assign(world, ids);
    for (let lane = 0; lane < (options.lanes ?? 1); lane += 1) world.startLane();
    await nats.connection.flush();
    return world;
  }

  startLane(): void {
    this.#lanes.push(
      startConversions({
        pool: this.pool,
        nats: this.nats,
        clickhouse: this.clickhouse,
        catalog: this.catalog,
        catalogFeed: this.#feed,
        log: this.#log,
        metrics: new Metrics(),
        signal: new AbortController().signal,
        clock: systemClock,
        outgoing: this.#outgoing,
      }),
    );
  }

  /**
   * Stands in for the writers of all shards: clicks made with `addYoungClick` are answered by it. Without it nobody answers, as
   * when no writer runs.
   */
  startWriters(answer: { completeToMs: () => number } = { completeToMs: () => Date.now() }): void {
    for (const shard of CLICK_LANES) {
      this.nats.connection.subscribe(this.nats.subjects.clickQuery(shard), {
        callback: (_error, message) => {
          const query = ClickQuery.parse(message.json());
          const clicks = this.#youngClicks(query, shard);
          message.respond(
            JSON.stringify(
              ClickAnswer.parse({
                completeToMs: answer.completeToMs(),
                clicks: clicks.map((click) => JSON.stringify(click)),
              }),
            ),
          );
        },
      });
    }
  }

  #youngClicks(query: ClickQuery, shard: number): ClickRecord[] {
    if (query.by === "id") {
      const click = this.young.get(query.clickId);
      return click === undefined ? [] : [click];
    }
    return [...this.young.values()].filter(
      (click) =>
        click[query.kind] === query.value &&
        click.workspace_id === query.workspaceId &&
        shardOfOffer(click.offer_id) === shard,
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

  async insert(table: string, columns: OfferSettings): Promise<number> {
    const names = Object.keys(columns);
    const { rows } = await this.pool.query<{ id: number }>({
      text: `insert into ${table} (${names.join(", ")}) values (${names.map((_, i) => `$${i + 1}`).join(", ")})
             returning id`,
      values: Object.values(columns).map((value) =>
        typeof value === "object" && value !== null && !Array.isArray(value)
          ? JSON.stringify(value)
          : value,
      ),
    });
    await this.#feed.refresh();
    return rows[0]?.id ?? 0;
  }

  /** Runs a statement on the catalog; known to the lane when this answers. */
  async change(text: string, values: readonly unknown[] = []): Promise<void> {
    await this.pool.query({ text, values });
    await this.#feed.refresh();
  }

  aClick(options: ClickOptions = {}): ClickRecord {
    const { ageMs = 60_000, ...fields } = options;
    const ts = this.#mint.nowMs() - ageMs;
    return ClickRecord.parse({
      click_id: this.#mint.mint(ts, shardOfOffer(fields.offer_id ?? 0)),
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

  /** Sends a `/pb` with the workspace's token, as ingress would. */
  async report(
    params: Record<string, string>,
    options: ReportOptions = {},
  ): Promise<PostbackReply> {
    const { timeoutMs = 20_000, ...given } = options;
    const request: PostbackRequest = {
      endpoint: "pb",
      params: options.endpoint === "px" ? params : { token: WORKSPACE_TOKEN, ...params },
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
    options: ReportOptions = {},
  ): Promise<PostbackReply> {
    const deadlineMs = Date.now() + 60_000;
    for (;;) {
      try {
        const reply = await this.report(params, { timeoutMs: 2_000, ...options });
        if (reply.httpStatus !== 503) return reply;
      } catch (error) {
        if (Date.now() > deadlineMs) throw error;
      }
      if (Date.now() > deadlineMs) throw new Error("no answer but outages within a minute");
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  async command(command: ConversionCommand): Promise<ConversionCommandReply> {
    const { subjects, connection } = this.nats;
    const reply = await connection.request(subjects.conversionCommand, JSON.stringify(command), {
      timeout: 20_000,
    });
    return reply.json<ConversionCommandReply>();
  }

  async rows<Row extends Record<string, unknown>>(
    text: string,
    values: readonly unknown[] = [],
  ): Promise<Row[]> {
    return (await this.pool.query<Row>({ text, values })).rows;
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

  async close(): Promise<void> {
    await this.closeLanes();
    await this.#outgoing.close();
    await this.#feed.close();
    await this.nats.connection.close();
    const name = this.nats.prefix;
    await this.clickhouse.command({ query: `drop database ${name}` });
    await this.clickhouse.close();
    await this.pool.end();
    await dropPostgresDatabase(this.#servers.postgres, name);
  }
}

/** The servers of this run, as test/services/global-setup.ts started or found them. */
export function serverUrls(): ServerUrls {
  return {
    postgres: inject("postgresUrl"),
    nats: inject("natsUrl"),
    clickhouse: inject("clickhouseUrl"),
  };
}

async function seed(
  pool: Pool,
): Promise<{ workspaceId: number; advertiserId: number; affiliateId: number }> {
  const one = async (text: string, values: readonly unknown[]): Promise<number> => {
    const { rows } = await pool.query<{ id: number }>({ text, values });
    return rows[0]?.id ?? 0;
  };
  const workspaceId = await one(
    "insert into workspace (slug, name, postback_token) values ('w', 'W', $1) returning id",
    [WORKSPACE_TOKEN],
  );
  const advertiserId = await one(
    "insert into advertiser (workspace_id, name, currency, postback_token) values ($1, 'A', 'USD', $2) returning id",
    [workspaceId, ADVERTISER_TOKEN],
  );
  const affiliateId = await one(
    "insert into affiliate (workspace_id, code, name, currency) values ($1, 'PARTNR', 'P', 'USD') returning id",
    [workspaceId],
  );
  return { workspaceId, advertiserId, affiliateId };
}

function databaseUrl(server: string, name: string): string {
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.toString();
}
