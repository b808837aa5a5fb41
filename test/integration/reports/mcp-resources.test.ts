import { describe, expect, test } from "vitest";
import { z } from "zod";
import { forThisFile } from "../../services/for-this-file.ts";
import { McpCaller } from "../api/mcp-caller.ts";
import { aClick, aConversion } from "./facts.ts";
import { serveReports } from "./report-api.ts";
import { type Caller, ReportWorld } from "./report-world.ts";

const CALLERS: readonly Caller[] = ["admin", "analyst", "partner", "advertiser"];
const world = await forThisFile(ReportWorld.open());
await world.store({ clicks: [aClick(world), aClick(world)], conversions: [aConversion(world)] });
const api = await forThisFile(serveReports(world));

const Read = z.strictObject({
  contents: z.tuple([
    z.strictObject({ uri: z.string(), mimeType: z.literal("application/json"), text: z.string() }),
  ]),
});

function as(caller: Caller): McpCaller {
  return new McpCaller(api.origin, api.keys[caller]);
}

async function read(caller: McpCaller, uri: string): Promise<Record<string, unknown>> {
  const [{ text }] = Read.parse(await caller.result("resources/read", { uri })).contents;
  return z.record(z.string(), z.unknown()).parse(JSON.parse(text));
}

describe("resources", () => {
  test.each(CALLERS)("%s keys read each listed document as REST answers it", async (role) => {
    const { resources } = z
      .object({ resources: z.array(z.object({ uri: z.string(), title: z.string() })) })
      .parse(await as(role).result("resources/list"));
    expect(resources.length).toBeGreaterThan(0);
    for (const { uri } of resources) {
      expect(await read(as(role), uri)).toEqual(
        await as(role).rest(`/reports/${uri.slice("tracker://".length)}`),
      );
    }
  });

  test("a template names every parameter of the time series", async () => {
    const { resourceTemplates } = z
      .object({ resourceTemplates: z.array(z.object({ uriTemplate: z.string() })) })
      .parse(await as("admin").result("resources/templates/list"));
    const [template = ""] = resourceTemplates.map(({ uriTemplate }) => uriTemplate);
    expect(template).toMatch(/^tracker:\/\/timeseries\{\?from,to,/);
    const query = "from=2025-02-01&to=2025-02-07&tz=UTC&metrics=clicks";
    expect(await read(as("admin"), `tracker://timeseries?${query}`)).toEqual(
      await as("admin").rest(`/reports/timeseries?${query}`),
    );
  });

  test.each(["partner", "advertiser"] as const)(
    "%s keys see no hidden metric, and a request for one is refused (MCP-035, T29)",
    async (role) => {
      const hidden = role === "partner" ? "revenue" : "payout";
      expect(
        JSON.stringify(await read(as(role), "tracker://timeseries?preset=last30")),
      ).not.toContain(`"${hidden}"`);
      const { error } = await as(role).request("resources/read", {
        uri: `tracker://timeseries?metrics=${hidden}`,
      });
      expect(error?.code).toBe(-32_602);
      expect(error?.message).toMatch(/^invalid_parameter: /);
    },
  );

  test.each([
    [{ uri: "tracker://nope" }, -32_002],
    [{ uri: "https://timeseries/" }, -32_002],
    [{ uri: "timeseries" }, -32_002],
    [{ uri: `tracker://timeseries?preset=${"x".repeat(5_000)}` }, -32_002],
    [{ uri: 5 }, -32_002],
    [{}, -32_002],
    [{ uri: "tracker://timeseries?preset=today&preset=yesterday" }, -32_602],
    [{ uri: "tracker://timeseries?preset=sometime" }, -32_602],
    [{ uri: "tracker://timeseries?nme=1" }, -32_602],
  ])("resources/read with %j is refused with %s", async (params, code) => {
    expect((await as("admin").request("resources/read", params)).error?.code).toBe(code);
  });
});
