import { expect } from "vitest";
import { z } from "zod";
import { insertKey } from "../../../api/access/insert-key.ts";
import { startApi } from "../../../api/start-api.ts";
import type { Clickhouse } from "../../../schemas/clickhouse/connect.ts";
import type { ClickRecord } from "../../../schemas/events/click-record.ts";
import { openLog } from "../../../schemas/host/log.ts";
import { Metrics } from "../../../schemas/host/metrics.ts";
import { OutgoingClient } from "../../../schemas/outgoing/outgoing-client.ts";
import type { Pool } from "../../../schemas/postgres/connect.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { until } from "../../system/until.ts";
import { DeliveryWorld } from "../delivery/delivery-world.ts";

/* A workspace whose visits convert, with a postback, a webhook and the API. Each test file that imports it has its own. */

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

let clicks = 0;

export const world = await forThisFile(DeliveryWorld.open());
export const { tracking } = world;
tracking.startWriters();
await tracking.change("update workspace set ip_storage = 'full'");
const key = await insertKey(tracking.pool, {
  workspaceId: tracking.workspaceId,
  name: "admin",
  role: "admin",
});
const outgoing = await forThisFile(new OutgoingClient({ allowLoopback: true }));
const app = await forThisFile(
  startApi({
    metrics: new Metrics(),
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
const origin = `http://127.0.0.1:${port}`;
export const offerId = await tracking.addOffer();
await world.addPostback(offerId, { url: world.url(`notified?g={gclid}`) });
await world.addWebhook("hook");
world.startLane();

type ApiAnswer = {
  readonly status: number;
  readonly headers: Headers;
  readonly data: unknown;
  readonly json: unknown;
};

export async function api(method: string, path: string, body?: unknown): Promise<ApiAnswer> {
  const answer = await fetch(`${origin}/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const json = z
    .looseObject({ data: z.unknown() })
    .partial()
    .parse(await answer.json());
  return { status: answer.status, headers: answer.headers, data: json.data, json };
}

/** Ten calls a minute are allowed: earlier ones are moved into the past. */
export async function erase(body: Record<string, string>): Promise<unknown> {
  await world.tracking.rows("update erasure set at = at - interval '2 minutes'");
  const answer = await api("POST", "/erasures", body);
  expect(answer.status).toBe(200);
  return answer.data;
}

/** A click that converted by ad ID, after its log rows and deliveries are stored. */
export async function aVisit(
  fields: Partial<ClickRecord> = {},
  params: Record<string, string> = {},
): Promise<{ click: ClickRecord; gclid: string; conversionId: string }> {
  clicks += 1;
  const gclid = `gclid-of-visit-${clicks}`;
  const click = await world.tracking.addClick({
    offer_id: offerId,
    gclid,
    ...DESCRIBED,
    ...fields,
  });
  const { body } = await world.tracking.report({
    click_id: click.click_id,
    gclid,
    ip: click.ip,
    amount: "50",
    ...params,
  });
  const conversionId = String(body["conversion_id"]);
  await world.settled(conversionId);
  await until(
    "the report is in the inbound log",
    async () =>
      (
        await world.tracking.rows("select from postback_log where conversion_id = $1", [
          conversionId,
        ])
      ).length > 0,
    { timeoutMs: 10_000 },
  );
  return { click, gclid, conversionId };
}

export const stores: { db: Pool; clickhouse: Clickhouse } = {
  db: tracking.pool,
  clickhouse: tracking.clickhouse,
};

export async function clickRow(clickId: string): Promise<Record<string, unknown> | undefined> {
  const answer = await world.tracking.clickhouse.query({
    query: `select ip, user_agent, referrer, gclid, destination, extra, visitor, sub1, country, offer_id, is_unique
      from click where click_id = unhex({clickId:String})`,
    query_params: { clickId },
    format: "JSONEachRow",
  });
  const [row] = z.array(z.record(z.string(), z.unknown())).parse(await answer.json());
  return row;
}

/** All stored data about visits, as text. */
export async function everything(): Promise<string> {
  const tables = await Promise.all(
    [
      "conversion",
      "conversion_history",
      "postback_log",
      "delivery",
      "erasure",
      "erased_click",
      "audit_log",
    ].map(async (table) =>
      (await world.tracking.rows<{ text: string }>(`select t::text as text from ${table} t`)).map(
        ({ text }) => text,
      ),
    ),
  );
  const answer = await world.tracking.clickhouse.query({
    query:
      "select * except (click_id) from click union all select * except (click_id) from click where 0",
    format: "JSONEachRow",
  });
  return [...tables.flat(), await answer.text()].join("\n");
}

/** Reports and the money of every conversion: an erasure must not change them. */
export async function reports(): Promise<unknown> {
  const paths = ["date,offer,country", "sub1", "device_type,os", "is_unique,referrer_host"].map(
    (by) => `/reports?group_by=${by}&preset=last7`,
  );
  const answers = await Promise.all(paths.map(async (path) => await api("GET", path)));
  const money = await world.tracking.rows(
    `select id, status, payout, revenue, sale_amount, conv_ts, version, click ->> 'sub1' as sub1 from conversion order by id`,
  );
  return { answers: answers.map(({ status, json }) => ({ status, json })), money };
}
