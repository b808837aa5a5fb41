import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { forThisFile } from "../../services/for-this-file.ts";
import { McpCaller, toolAnswer } from "../api/mcp-caller.ts";
import { McpOutputs } from "../api/mcp-outputs.ts";
import { AT_MS, ClickListWorld, ids } from "./click-list-world.ts";
import { aClick, aConversion } from "./facts.ts";
import { serveReports } from "./report-api.ts";
import { type Caller, rowsOf } from "./report-world.ts";
import { STAFF_METRICS } from "./small-world.ts";

const DAY = { from: "2025-02-03", to: "2025-02-03", tz: "UTC" };
const CALLERS: readonly Caller[] = ["admin", "analyst", "partner", "advertiser"];
/** A day in the last week, on any day of this week. */
const LAST_WEEK_MS = Date.now() - 7 * 86_400_000;

const clicks = await forThisFile(ClickListWorld.open());
const { world } = clicks;
const [offerId] = world.seed.offerIds;
const lastWeek = (country: string) => aClick(world, { ts: LAST_WEEK_MS, country });
await world.store({
  clicks: [lastWeek("DE"), lastWeek("DE"), lastWeek("FR")],
  conversions: [
    aConversion(world),
    aConversion(world, { conv_ts: LAST_WEEK_MS, country: "DE", revenue: "15.0000" }),
  ],
});
const api = await forThisFile(serveReports(world));

function as(caller: Caller): McpCaller {
  return new McpCaller(api.origin, api.keys[caller]);
}

function found(body: Record<string, unknown>): unknown[] {
  return ids(rowsOf(body["data"]));
}

test.each(CALLERS)(
  "reports and clicks as %s have the shape that outputSchema promises (MCP-035)",
  async (role) => {
    const outputs = await McpOutputs.of(as(role));
    const asked: readonly [string, object][] = [
      ["run_report", DAY],
      ["run_report", { ...DAY, group_by: ["offer", "country"], limit: 1 }],
      ["run_report", { preset: "last_week", group_by: ["date"] }],
      [
        "run_report",
        {
          ...DAY,
          group_by: ["date"],
          currency: "EUR",
          params: { compare: "previous", convert: "1" },
        },
      ],
      ["lookup_clicks", { ...DAY, params: { filters: "country:in:US" } }],
      ["lookup_clicks", DAY],
      ["lookup_clicks", { ...DAY, gclid: "none" }],
    ];
    for (const [name, given] of asked) {
      const answer = await as(role).tool(name, given);
      expect(outputs.faults(name, answer)).toEqual([]);
      expect(answer.isError && !answer.text.startsWith("forbidden: "), answer.text).toBe(false);
    }
  },
);

describe("run_report", () => {
  test.each(CALLERS)(
    "as %s answers like GET /reports, with the same names (MCP-022, MCP-035)",
    async (role) => {
      const money = role === "partner" ? "payout" : "revenue";
      const answer = await as(role).tool("run_report", {
        ...DAY,
        group_by: ["offer", "country"],
        metrics: ["clicks", money],
        sort: "-clicks",
        limit: 1,
        currency: "USD",
        params: { offset: "0", date_basis: "click" },
      });
      expect(answer.isError, answer.text).toBe(false);
      expect(answer.body).toEqual(
        await as(role).rest(
          `/reports?from=2025-02-03&to=2025-02-03&tz=UTC&group_by=offer,country&metrics=clicks,${money}` +
            "&sort=-clicks&limit=1&currency=USD&offset=0&date_basis=click",
        ),
      );
    },
  );

  test("has the presets and defaults of GET /reports (MCP-022)", async () => {
    for (const preset of ["today", "last_week"]) {
      const { body } = await as("admin").tool("run_report", { preset });
      expect(body).toEqual(await as("admin").rest(`/reports?preset=${preset}`));
    }
    expect((await as("admin").tool("run_report")).body).toEqual(await as("admin").rest("/reports"));
  });

  test.each([
    [{ filters: "country:in:DE" }, "filters=country:in:DE"],
    [
      { filters: "country:in:DE|US,affiliate:not_in:0" },
      "filters=country:in:DE|US,affiliate:not_in:0",
    ],
    [
      { filters: ["country:in:DE|US", "link_type:in:affiliate"] },
      "filters=country:in:DE|US,link_type:in:affiliate",
    ],
    [{ filters: "offer:in:1", offset: 0 }, "filters=offer:in:1&offset=0"],
    [{ compare: "previous_year", convert: 1 }, "compare=previous_year&convert=1"],
  ])("params %j become query parameters, lists with commas (MCP-031)", async (params, query) => {
    const answer = await as("admin").tool("run_report", { preset: "last_week", params });
    expect(answer.body).toEqual(await as("admin").rest(`/reports?preset=last_week&${query}`));
  });

  test.each([
    ["partner", ["revenue", ...STAFF_METRICS], "advertiser"],
    ["advertiser", ["payout", ...STAFF_METRICS], "affiliate_code"],
  ] as const)(
    "%s keys see no hidden metric, and a request for one is refused (MCP-035, T29)",
    async (role, hidden, dimension) => {
      const { text } = await as(role).tool("run_report", { ...DAY, group_by: ["offer"] });
      for (const name of hidden) {
        expect(text).not.toContain(`"${name}"`);
        expect(await as(role).refusal("run_report", { metrics: [name] })).toMatch(
          /^invalid_parameter: metrics: /,
        );
      }
      expect(await as(role).refusal("run_report", { group_by: [dimension] })).toMatch(
        /^invalid_parameter: group_by: /,
      );
    },
  );
});

describe("lookup_clicks", () => {
  test("returns the clicks of a range, page by page (MCP-028)", async () => {
    const first = await as("admin").tool("lookup_clicks", { ...DAY, limit: 3 });
    const query = "from=2025-02-03&to=2025-02-03&tz=UTC";
    const { data } = await as("admin").rest(`/clicks?${query}&limit=3`);
    expect(first.body["data"]).toEqual(data);
    const next = await as("admin").tool("lookup_clicks", {
      ...DAY,
      limit: 3,
      cursor: first.body["next_cursor"],
    });
    const all = await as("admin").rest(`/clicks?${query}`);
    expect([...found(first.body), ...found(next.body)]).toEqual(found(all));
    expect(found(all)).toHaveLength(5);
  });

  test("finds clicks by gclid, gbraid or wbraid within a range only (MCP-028, MCP-029)", async () => {
    const { body } = await as("admin").tool("lookup_clicks", { gclid: "g3", ...DAY });
    expect(body).toEqual(
      await as("admin").rest("/clicks?gclid=g3&from=2025-02-03&to=2025-02-03&tz=UTC"),
    );
    expect(body["click_ids"]).toHaveLength(2);
    for (const kind of ["gbraid", "wbraid"]) {
      const none = await as("admin").tool("lookup_clicks", { [kind]: "g3", ...DAY });
      expect(none.body["click_ids"]).toEqual([]);
      expect(await as("admin").refusal("lookup_clicks", { [kind]: "g3" })).toMatch(
        /^invalid_parameter: from: /,
      );
    }
    const long = { gclid: "g3", from: "2024-01-01", to: "2024-12-31" };
    expect(await as("admin").refusal("lookup_clicks", long)).toMatch(/^invalid_parameter: from: /);
  });

  test("finds a click_id on any day, like GET /clicks (MCP-028)", async () => {
    const [{ click_id }] = clicks.own;
    const { body } = await as("admin").tool("lookup_clicks", { click_id });
    expect(found(body)).toEqual([click_id]);
    expect(body).toEqual(await as("admin").rest(`/clicks?click_id=${click_id.toUpperCase()}`));
    expect(body["range"]).toMatchObject({ from: "2025-02-03T00:00:00.000Z" });
    const elsewhere = await as("admin").tool("lookup_clicks", {
      click_id,
      from: "2025-03-01",
      to: "2025-03-02",
    });
    expect(found(elsewhere.body)).toEqual([]);
    for (const made of ["0".repeat(32), "f".repeat(32)])
      expect(found((await as("admin").tool("lookup_clicks", { click_id: made })).body)).toEqual([]);
  });

  test("partner and advertiser keys find their own clicks, without hidden fields (MCP-035)", async () => {
    const { foreign } = clicks;
    for (const [role, hidden] of [
      ["partner", "destination"],
      ["advertiser", "sub1"],
    ] as const) {
      const { body, text } = await as(role).tool("lookup_clicks", DAY);
      expect(found(body)).toEqual(clicks.own.map(({ click_id }) => click_id));
      expect(text).not.toContain(`"${hidden}"`);
      const other = await as(role).tool("lookup_clicks", { click_id: foreign.click_id });
      expect(found(other.body)).toEqual([]);
    }
    expect(AT_MS).toBe(Date.parse("2025-02-03T10:00:00Z"));
  });
});

describe("the official client", () => {
  async function connect(key: string): Promise<Client> {
    const client = new Client({ name: "assistant", version: "1.0.0" });
    const transport = new StreamableHTTPClientTransport(new URL(`${api.origin}/mcp`), {
      requestInit: { headers: { Authorization: `Bearer ${key}` } },
    });
    await client.connect(transport);
    return client;
  }

  test("connects, lists the tools, pings and closes (MCP-013, MCP-015, MCP-016, MCP-032)", async () => {
    const client = await connect(api.keys.analyst);
    expect(client.getServerVersion()).toEqual({ name: "w", version: "1.0.0" });
    expect(client.getServerCapabilities()).toEqual({ tools: {}, prompts: {}, resources: {} });
    const { tools } = await client.listTools();
    expect(tools).toHaveLength(10);
    expect(tools.every(({ annotations }) => annotations?.readOnlyHint === true)).toBe(true);
    expect(await client.ping()).toEqual({});
    await client.close();
  });

  test("distinguishes a refusal of a tool from a fault of the protocol (MCP-012, MCP-020)", async () => {
    const client = await connect(api.keys.partner);
    const refused = toolAnswer(await client.callTool({ name: "list_affiliates" }));
    expect([refused.isError, refused.text.split(":")[0]]).toEqual([true, "forbidden"]);
    await expect(client.callTool({ name: "zz" })).rejects.toMatchObject({ code: -32_602 });
    await client.close();
    await expect(connect("nonsense")).rejects.toMatchObject({ code: 401 });
  });

  test("the example of the instructions answers last week by country in one call (MCP-015, MCP-022)", async () => {
    const client = await connect(api.keys.advertiser);
    const [, example = ""] = /run_report (\{.*?\}\})\./.exec(client.getInstructions() ?? "") ?? [];
    const parsed: unknown = JSON.parse(example.replace("offer:in:12", `offer:in:${offerId}`));
    const given = z.record(z.string(), z.unknown()).parse(parsed);
    const answer = toolAnswer(await client.callTool({ name: "run_report", arguments: given }));
    expect(answer.isError, answer.text).toBe(false);
    expect(rowsOf(answer.body["data"])).toMatchObject([
      { country: "DE", clicks: 2, conversions: 1, revenue: "15.0000" },
      { country: "FR", clicks: 1, conversions: 0, revenue: "0.0000" },
    ]);
    const byName = { ...given, group_by: ["offer", "country"], params: {} };
    const named = toolAnswer(await client.callTool({ name: "run_report", arguments: byName }));
    expect(rowsOf(named.body["data"])[0]).toMatchObject({ offer_label: "Offer 1", country: "DE" });
    await client.close();
  });
});
