import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { Role } from "../../../api/operation/permissions.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { ApiWorld, type Json, list, record } from "./api-world.ts";
import { McpCaller } from "./mcp-caller.ts";

const CONVERSIONS = 5;

const world = await forThisFile(ApiWorld.open());
await world.startProcessor();
const admin = as("admin");
await world.offer({ name: "Winter boots", status: "paused" });
const offer = await world.offer({ name: "Summer sale" });
await world.post("/tracking-domains", { host: "go.example", is_default: true });
const SALE = { offer_id: offer.id, affiliate_id: world.tenant.affiliateId };
const conversionIds: string[] = [];
for (let index = 0; index < CONVERSIONS; index += 1) {
  const answer = await world.post("/conversions", { ...SALE, adv_txid: `order-${index}` });
  conversionIds.push(String(record(answer).id));
}

function as(role: Role): McpCaller {
  return new McpCaller(world.origin, world.tenant.keys[role]);
}

describe("a tool has the answer of REST", () => {
  const same: readonly (readonly [name: string, given: Json, id: string, path: () => string])[] = [
    ["list_offers", {}, "MCP-023", () => "/offers"],
    ["list_offers", { q: "summer" }, "MCP-023", () => "/offers?q=summer"],
    [
      "list_offers",
      { status: "paused", limit: 1 },
      "MCP-023",
      () => "/offers?status=paused&limit=1",
    ],
    ["list_affiliates", { q: "PARTNER" }, "MCP-025", () => "/affiliates?q=PARTNER"],
    ["list_conversions", { limit: 2 }, "MCP-026", () => "/conversions?limit=2"],
    ["list_conversions", { status: "approved" }, "MCP-026", () => "/conversions?status=approved"],
    ["list_conversions", { event: "nope" }, "MCP-026", () => "/conversions?event=nope"],
    ["list_conversions", { preset: "today" }, "MCP-026", () => "/conversions?preset=today"],
    [
      "list_conversions",
      { params: { adv_txid: "order-3" } },
      "MCP-031",
      () => "/conversions?adv_txid=order-3",
    ],
    [
      "list_offers",
      { params: { visibility: "public", featured: false } },
      "MCP-031",
      () => "/offers?visibility=public&featured=false",
    ],
  ];

  test.each(same)("%s %j (MCP-019, %s)", async (name, given, _id, path) => {
    const answer = await admin.tool(name, given);
    expect(answer.isError, answer.text).toBe(false);
    const body = withoutCursor(answer.body);
    expect(body).toEqual(withoutCursor(await admin.rest(path())));
    expect(JSON.parse(answer.text)).toEqual(answer.body);
  });

  test("whoami answers like GET /me (MCP-021)", async () => {
    const { body } = await admin.tool("whoami");
    const me = await admin.rest("/me");
    expect(withoutRate(body)).toEqual(withoutRate(me));
    expect(remainingOf(body) - remainingOf(me)).toBe(1);
  });

  test("get_offer by id, as text or number, and by code (MCP-024)", async () => {
    const rest = await admin.rest(`/offers/${offer.id}`);
    for (const id of [offer.id, String(offer.id), offer["code"]]) {
      expect((await admin.tool("get_offer", { id })).body).toEqual(rest);
    }
  });

  test("get_affiliate by id and by code (MCP-025)", async () => {
    const { affiliateId, affiliateCode } = world.tenant;
    const rest = await admin.rest(`/affiliates/${affiliateId}`);
    for (const id of [affiliateId, affiliateCode])
      expect((await admin.tool("get_affiliate", { id })).body).toEqual(rest);
  });

  test("get_conversion by its id (MCP-027)", async () => {
    const [id = ""] = conversionIds;
    const rest = await admin.rest(`/conversions/${id}`);
    expect((await admin.tool("get_conversion", { id })).body).toEqual(rest);
  });

  test("tracking_link answers like GET /tracking-link (MCP-030)", async () => {
    const { affiliateCode } = world.tenant;
    const given = { offer: offer.id, affiliate: affiliateCode, sub1: "a b", sub2: "c" };
    const path = `/tracking-link?offer=${offer.id}&affiliate=${affiliateCode}&sub1=a%20b&sub2=c`;
    const plain = await admin.tool("tracking_link", { ...given, params: { sub7: "d" } });
    expect(plain.body).toEqual(await admin.rest(`${path}&sub7=d`));
    expect(plain.text).toContain("sub7=d");
    const transparent = await admin.tool("tracking_link", { ...given, type: "transparent" });
    expect(transparent.body).toEqual(await admin.rest(`${path}&type=transparent`));
    expect(transparent.text).toContain("google_ads");
    const own = await as("partner").tool("tracking_link", { offer: offer["code"] });
    expect(own.body).toEqual(await as("partner").rest(`/tracking-link?offer=${offer.id}`));
  });
});

test("the cursor pages through all conversions, each once (MCP-026)", async () => {
  const seen: string[] = [];
  let cursor: unknown = null;
  for (let page = 0; page < CONVERSIONS; page += 1) {
    const { body } = await admin.tool("list_conversions", { limit: 2, cursor });
    seen.push(
      ...z
        .array(z.looseObject({ id: z.string() }))
        .parse(body["data"])
        .map(({ id }) => id),
    );
    cursor = body["next_cursor"];
    if (cursor === null) break;
  }
  expect([...seen].sort()).toEqual([...conversionIds].sort());
  const { body } = await admin.tool("list_conversions", { limit: 2 });
  expect(await admin.refusal("list_offers", { cursor: body["next_cursor"] })).toMatch(
    /^invalid_cursor: /,
  );
});

describe("refusals", () => {
  const refused: readonly (readonly [name: string, given: unknown, id: string, why: RegExp])[] = [
    ["get_offer", { id: 999_999 }, "MCP-020", /^not_found: /],
    ["get_affiliate", { id: "NOBODY" }, "MCP-020", /^not_found: /],
    ["list_offers", { status: "gone" }, "MCP-020", /^invalid_parameter: status: /],
    ["list_conversions", { from: "soon" }, "MCP-020", /^invalid_parameter: from: /],
    ["run_report", { metrics: ["luck"] }, "MCP-020", /^invalid_parameter: metrics: .*"luck"/],
    ["run_report", { group_by: ["luck"] }, "MCP-020", /^invalid_parameter: group_by: .*"luck"/],
    ["run_report", { params: { filters: "x:in:1" } }, "MCP-020", /^invalid_parameter: filters: /],
    ["get_conversion", {}, "MCP-027, G175", /^invalid_parameter: id: required$/],
    ["get_conversion", { id: "00000000-0000-4000-8000-000000000000" }, "MCP-027", /^not_found: /],
    ["get_conversion", { id: "nonsense" }, "MCP-027", /^not_found: /],
    ["get_offer", undefined, "G175", /^invalid_parameter: id: required$/],
    ["get_offer", { id: null }, "G175", /^invalid_parameter: id: required$/],
    ["get_offer", { id: true }, "G175", /^invalid_parameter: id: /],
    ["get_offer", { id: 1.5 }, "G175", /^invalid_parameter: id: /],
    ["get_offer", [1], "G175", /^invalid_parameter: arguments: /],
    ["get_offer", { id: 1, params: { x: "1" } }, "G175", /^invalid_parameter: params: /],
    ["tracking_link", {}, "G175", /^invalid_parameter: offer: required$/],
    ["get_offer", { id: "" }, "G175, G251", /^invalid_parameter: id: required$/],
    ["list_offers", { q: {} }, "G175", /^invalid_parameter: q: expected text$/],
    ["run_report", { group_by: [1] }, "G175", /^invalid_parameter: group_by: expected a list/],
    ["run_report", { group_by: '["luck"]' }, "G251", /^invalid_parameter: group_by: .*"luck"/],
    ["run_report", { params: '{"country":"DE"}' }, "G251", /^invalid_parameter: params\.country: /],
    [
      "run_report",
      { params: '{"filters":' },
      "G251",
      /^invalid_parameter: params: expected an obj/,
    ],
    ["run_report", { preset: "last_7" }, "ENV-029", /^invalid_parameter: preset: .*last7, last14/],
    ["list_offers", { limit: [5] }, "MCP-038", /^invalid_parameter: limit: .* 1 to 200$/],
    ["run_report", { params: "x" }, "G175", /^invalid_parameter: params: expected an object$/],
    ["run_report", { params: { filters: {} } }, "G175", /^invalid_parameter: params\.filters: /],
    ["lookup_clicks", { gclid: "abc" }, "MCP-029", /^invalid_parameter: from: /],
    ["list_offers", { limit: 201 }, "MCP-038", /^invalid_parameter: limit: .* 1 to 200$/],
    ["list_offers", { limit: 0 }, "MCP-038", /^invalid_parameter: limit: .* 1 to 200$/],
    ["list_offers", { limit: "five" }, "MCP-038", /^invalid_parameter: limit: .* 1 to 200$/],
    ["list_offers", { limit: 2.5 }, "MCP-038", /^invalid_parameter: limit: .* 1 to 200$/],
    ["list_affiliates", { limit: 201 }, "MCP-038", /^invalid_parameter: limit: .* 1 to 200$/],
    ["list_conversions", { limit: 501 }, "MCP-038", /^invalid_parameter: limit: .* 1 to 500$/],
    ["run_report", { limit: 1001 }, "MCP-038", /^invalid_parameter: limit: .* 1 to 1000$/],
    [
      "run_report",
      { params: { limit: "1001" } },
      "MCP-038",
      /^invalid_parameter: limit: .* 1 to 1000$/,
    ],
    ["lookup_clicks", { limit: 1001 }, "MCP-038", /^invalid_parameter: limit: .* 1 to 1000$/],
  ];

  test.each(refused)("%s %j (%s)", async (name, given, _id, why) => {
    expect(await admin.refusal(name, given)).toMatch(why);
  });

  test.each([
    ["run_report", { country: "DE" }, "country"],
    ["run_report", { filters: "country:in:DE" }, "send it in params"],
    ["run_report", { metric: ["clicks"] }, 'nearest known one is "metrics"'],
    ["run_report", { groupby: ["offer"] }, 'nearest known one is "group_by"'],
    ["lookup_clicks", { params: { offerid: "1" } }, 'nearest known one is "offer_id"'],
    ["run_report", { params: { country: "DE" } }, "params.country"],
    ["run_report", { params: { format: "csv" } }, "params.format"],
    ["list_offers", { limit: 5, params: { limit: "6" } }, "twice"],
    ["whoami", { verbose: "1" }, "verbose"],
  ])("%s %j is refused instead of ignoring an argument (MCP-031)", async (name, given, reason) => {
    const text = await admin.refusal(name, given);
    expect(text).toMatch(/^invalid_parameter: /);
    expect(text).toContain(reason);
  });

  test.each([
    [
      "run_report",
      {
        group_by: '["offer", "date"]',
        metrics: "clicks,conversions",
        limit: "5",
        from: "",
        params: "",
      },
      { group_by: ["offer", "date"], metrics: ["clicks", "conversions"], limit: 5 },
    ],
    [
      "run_report",
      { params: '{"filters": "country:in:DE"}', sort: "" },
      { params: { filters: "country:in:DE" } },
    ],
    ["list_offers", { q: 5, limit: " 7 ", status: "", cursor: "" }, { q: "5", limit: 7 }],
    ["list_conversions", { status: ["approved", "pending"] }, { status: "approved,pending" }],
  ])("%s %j is read as %j (G251)", async (name, given, meant) => {
    const [sent, plain] = [await admin.tool(name, given), await admin.tool(name, meant)];
    expect(sent.isError).toBe(plain.isError);
    expect({ ...sent.body, range: undefined }).toEqual({ ...plain.body, range: undefined });
  });

  test("names that begin with an underscore are ignored (#21, G14)", async () => {
    const given = { _meta: {}, limit: 1, params: { _: "1", visibility: "public" } };
    expect((await admin.tool("list_offers", given)).isError).toBe(false);
    expect((await admin.tool("whoami", { params: { _ts: "1" } })).isError).toBe(false);
  });

  test.each(["partner", "advertiser"] as const)(
    "%s keys may not list or read partners, existing or not (MCP-025)",
    async (role) => {
      for (const id of [world.tenant.affiliateId, 999_999])
        expect(await as(role).refusal("get_affiliate", { id })).toMatch(/^forbidden: /);
      expect(await as(role).refusal("list_affiliates", { limit: 0 })).toMatch(/^forbidden: /);
    },
  );

  test("advertiser keys may not build links (MCP-030)", async () => {
    expect(await as("advertiser").refusal("tracking_link", { offer: offer.id })).toMatch(
      /^forbidden: /,
    );
  });

  test("an internal fault is internal_error without internal details (MCP-020)", async () => {
    await world.pool.query({ text: "alter table affiliate rename column website to website_gone" });
    const text = await admin.refusal("list_affiliates");
    await world.pool.query({ text: "alter table affiliate rename column website_gone to website" });
    expect(text).toMatch(/^internal_error: /);
    expect(text).not.toMatch(/website|column/);
  });
});

/** A cursor contains the time of its range, so two are never equal: only whether there is one is compared. */
function withoutCursor(body: Json): Json {
  const { next_cursor, ...rest } = body;
  return { ...rest, hasMore: next_cursor !== null };
}

const Me = z.looseObject({
  data: z.looseObject({ rate_limit: z.looseObject({ remaining: z.int() }) }),
});

function withoutRate(body: Json): unknown {
  const { rate_limit: _, ...rest } = Me.parse(body).data;
  return rest;
}

function remainingOf(body: Json): number {
  return Me.parse(body).data.rate_limit.remaining;
}

test("the audit log has each tool call, also refused ones, and nothing else (MCP-036, G177)", async () => {
  const before = list(await world.get("/audit-log?action=mcp:&limit=200")).length;
  await admin.tool("get_offer", { id: 999_999 });
  await as("partner").tool("list_affiliates");
  await admin.result("tools/list");
  await admin.result("initialize", {});
  await admin.request("tools/call", { name: "zz" });
  const batch = ["whoami", "list_offers"].map((name, id) => ({
    jsonrpc: "2.0",
    id,
    method: "tools/call",
    params: { name },
  }));
  const answer = await admin.post(batch, { headers: { "x-request-id": "batch-of-two" } });
  expect(answer.headers.get("x-request-id")).toBe("batch-of-two");
  const rows = list(await world.get("/audit-log?action=mcp:&limit=200"));
  expect(rows.length - before).toBe(4);
  expect(rows.slice(0, 4).toReversed()).toMatchObject([
    { action: "mcp:get_offer", status: 404, user: "Admin", ip: "127.0.0.1" },
    { action: "mcp:list_affiliates", status: 403, user: "partner" },
    { action: "mcp:whoami", status: 200, request_id: "batch-of-two" },
    { action: "mcp:list_offers", status: 200, request_id: "batch-of-two" },
  ]);
});
