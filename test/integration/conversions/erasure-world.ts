import assert from "node:assert/strict";
import { z } from "zod";
import { insertKey } from "../../../api/access/insert-key.ts";
import { startApi } from "../../../api/start-api.ts";
import type { Clickhouse } from "../../../schemas/clickhouse/connect.ts";
import type { ClickRecord } from "../../../schemas/events/click-record.ts";
import { openLog } from "../../../schemas/host/log.ts";
import { Metrics } from "../../../schemas/host/metrics.ts";
import { OutgoingClient } from "../../../schemas/outgoing/outgoing-client.ts";
import type { Pool } from "../../../schemas/postgres/connect.ts";
import { secretKeys } from "../../samples/secret-keys.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { until } from "../../system/until.ts";
import { DeliveryWorld } from "../delivery/delivery-world.ts";
import type { TrackingWorld } from "./tracking-world.ts";

export const ZEROS = { clicks: 0, conversions: 0, log_rows: 0, deliveries: 0 };
export const IP = "198.51.100.23";
export const OTHER_IP = "198.51.100.24";
export const EMAIL = "Jane@Shop.example";
export const DESCRIBED = {
  ip: IP,
  user_agent: "Browser 1.0",
  referrer: "https://blog.example/a",
  sub1: "kept",
  destination: `https://shop.example/?from=${IP}`,
  visitor: 77,
  country: "DE",
  extra: JSON.stringify({ page: "x" }),
};

type ApiAnswer = {
  readonly status: number;
  readonly headers: Headers;
  readonly data: unknown;
  readonly json: unknown;
};

type Api = { readonly origin: string; readonly key: string };

/** A workspace whose visits convert, with a postback, a webhook and the API. */
export class ErasureWorld {
  readonly delivery: DeliveryWorld;
  readonly tracking: TrackingWorld;
  readonly stores: { readonly db: Pool; readonly clickhouse: Clickhouse };
  readonly offerId: number;
  readonly #origin: string;
  readonly #key: string;
  #visits = 0;

  private constructor(delivery: DeliveryWorld, offerId: number, api: Api) {
    this.delivery = delivery;
    this.tracking = delivery.tracking;
    this.stores = { db: this.tracking.pool, clickhouse: this.tracking.clickhouse };
    this.offerId = offerId;
    this.#origin = api.origin;
    this.#key = api.key;
  }

  /** For the tests of one file. */
  static async open(): Promise<ErasureWorld> {
    const delivery = await forThisFile(DeliveryWorld.open());
    const { tracking } = delivery;
    tracking.startWriters();
    await tracking.change("update workspace set ip_storage = 'full'");
    const api = await openApi(tracking);
    const offerId = await tracking.addOffer();
    await delivery.addPostback(offerId, { url: delivery.url(`notified?g={gclid}`) });
    await delivery.addWebhook("hook");
    delivery.startLane();
    return new ErasureWorld(delivery, offerId, api);
  }

  async api(method: string, path: string, body?: unknown): Promise<ApiAnswer> {
    const answer = await fetch(`${this.#origin}/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${this.#key}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const json = z
      .looseObject({ data: z.unknown() })
      .partial()
      .parse(await answer.json());
    return { status: answer.status, headers: answer.headers, data: json.data, json };
  }

  /** Ten calls a minute are allowed: earlier ones are moved into the past. */
  async erase(body: Record<string, string>): Promise<unknown> {
    await this.tracking.rows("update erasure set at = at - interval '2 minutes'");
    const answer = await this.api("POST", "/erasures", body);
    assert.equal(answer.status, 200);
    return answer.data;
  }

  /** A click that converted by ad ID, after its log rows and deliveries are stored. */
  async aVisit(
    fields: Partial<ClickRecord> = {},
    params: Record<string, string> = {},
  ): Promise<{ click: ClickRecord; gclid: string; conversionId: string }> {
    this.#visits += 1;
    const gclid = `gclid-of-visit-${this.#visits}`;
    const click = await this.tracking.addClick({
      offer_id: this.offerId,
      gclid,
      ...DESCRIBED,
      ...fields,
    });
    const { body } = await this.tracking.report({
      click_id: click.click_id,
      gclid,
      ip: click.ip,
      amount: "50",
      ...params,
    });
    const conversionId = String(body["conversion_id"]);
    await this.delivery.settled(conversionId);
    await until(
      "the report is in the inbound log",
      async () =>
        (
          await this.tracking.rows("select from postback_log where conversion_id = $1", [
            conversionId,
          ])
        ).length > 0,
    );
    return { click, gclid, conversionId };
  }

  async clickRow(clickId: string): Promise<Record<string, unknown> | undefined> {
    const answer = await this.tracking.clickhouse.query({
      query: `select ip, user_agent, referrer, gclid, destination, extra, visitor, sub1, country, offer_id, is_unique
        from click where click_id = unhex({clickId:String})`,
      query_params: { clickId },
      format: "JSONEachRow",
    });
    const [row] = z.array(z.record(z.string(), z.unknown())).parse(await answer.json());
    return row;
  }

  /** All stored data about visits, as text. */
  async everything(): Promise<string> {
    const tables = await Promise.all(
      [
        "conversion",
        "conversion_history",
        "postback_log",
        "delivery",
        "delivery_attempt",
        "erasure",
        "erased_click",
        "audit_log",
      ].map(async (table) =>
        (await this.tracking.rows<{ text: string }>(`select t::text as text from ${table} t`)).map(
          ({ text }) => text,
        ),
      ),
    );
    const answer = await this.tracking.clickhouse.query({
      query:
        "select * except (click_id) from click union all select * except (click_id) from click where 0",
      format: "JSONEachRow",
    });
    return [...tables.flat(), await answer.text()].join("\n");
  }

  /** Reports and the money of every conversion: an erasure must not change them. */
  async reports(): Promise<unknown> {
    const paths = ["date,offer,country", "sub1", "device_type,os", "is_unique,referrer_host"].map(
      (by) => `/reports?group_by=${by}&preset=last7`,
    );
    const answers = await Promise.all(paths.map(async (path) => await this.api("GET", path)));
    const money = await this.tracking.rows(
      `select id, status, payout, revenue, sale_amount, conv_ts, version, click ->> 'sub1' as sub1 from conversion order by id`,
    );
    return { answers: answers.map(({ status, json }) => ({ status, json })), money };
  }
}

async function openApi(tracking: TrackingWorld): Promise<Api> {
  const key = await insertKey(tracking.pool, {
    workspaceId: tracking.workspaceId,
    name: "admin",
    role: "admin",
  });
  const outgoing = await forThisFile(new OutgoingClient({ allowLoopback: true }));
  const app = await forThisFile(
    startApi({
      metrics: new Metrics(),
      secretKeys: secretKeys(),
      db: tracking.pool,
      clickhouse: tracking.clickhouse,
      nats: () => tracking.nats,
      outgoing,
      log: openLog({ process: "test", level: "silent" }),
      trustedProxies: [],
      rateLimitPerMinute: 1_000_000,
      allowLoopback: true,
      apiUrl: "https://api.example",
      trackingUrl: "http://track.example",
    }),
  );
  await app.listen({ host: "127.0.0.1", port: 0 });
  const { port } = z.looseObject({ port: z.int() }).parse(app.server.address());
  return { key, origin: `http://127.0.0.1:${port}` };
}
