import { expect, test } from "vitest";
import { forThisFile } from "../../services/for-this-file.ts";
import { McpCaller } from "../api/mcp-caller.ts";
import { serveReports } from "./report-api.ts";
import { type Caller, rowsOf } from "./report-world.ts";
import { DAY, openSmallWorld } from "./small-world.ts";

const world = await forThisFile(openSmallWorld());
const api = await forThisFile(serveReports(world));

type Cell = number | string | null;
type Expected = {
  readonly caller: Caller;
  readonly metrics: readonly string[];
  /** By ascending number of the offer; counted by hand from the rows of the small world. */
  readonly rows: Readonly<Record<number, readonly Cell[]>>;
  readonly totals: readonly Cell[];
};

const STAFF: Omit<Expected, "caller"> = {
  metrics: ["clicks", "unique_clicks", "conversions", "revenue", "payout", "profit", "margin"],
  rows: {
    1: [4, 2, 2, "30.0000", "11.0000", "19.0000", 0.633333],
    2: [3, 2, 0, "0.6000", "0.2000", "0.4000", 0.666667],
    4: [0, 0, 1, "0.0000", "0.0000", "0.0000", null],
  },
  totals: [7, 4, 3, "30.6000", "11.2000", "19.4000", 0.633987],
};

test.each<Expected>([
  { caller: "admin", ...STAFF },
  { caller: "analyst", ...STAFF },
  {
    caller: "partner",
    metrics: ["clicks", "conversions", "cvr", "payout", "epc"],
    rows: { 1: [4, 1, 0.5, "10.0000", "2.5000"], 4: [0, 1, null, "0.0000", null] },
    // All clicks are on offers in USD.
    totals: [4, 2, 1, "10.0000", "2.5000"],
  },
  {
    caller: "advertiser",
    metrics: ["impressions", "clicks", "conversions", "revenue", "epc"],
    rows: { 1: [3, 4, 2, "30.0000", "7.5000"] },
    totals: [3, 4, 2, "30.0000", "7.5000"],
  },
])(
  "as $caller REST, MCP and CSV have the same numbers for a report (REP-071)",
  async ({ caller, metrics, rows, totals }) => {
    const expected = Object.entries(rows).map(([number, cells]) => [
      world.seed.offerIds[Number(number) - 1],
      ...cells,
    ]);
    const as = new McpCaller(api.origin, api.keys[caller]);
    const query = new URLSearchParams({
      ...DAY,
      group_by: "offer",
      metrics: metrics.join(","),
      sort: "offer",
    });
    const byRest = await as.rest(`/reports?${query}`);
    const byMcp = await as.tool("run_report", {
      ...DAY,
      group_by: ["offer"],
      metrics,
      sort: "offer",
    });
    expect(byMcp.isError, byMcp.text).toBe(false);
    for (const body of [byRest, byMcp.body]) {
      const shown = rowsOf(body["data"]);
      expect(shown.map((row) => ["offer", ...metrics].map((name) => row[name]))).toEqual(expected);
      const [total = {}] = rowsOf([body["totals"]]);
      expect(metrics.map((name) => total[name])).toEqual(totals);
      expect(body["total_rows"]).toBe(expected.length);
    }
    const csv = await fetch(`${api.origin}/api/v1/reports?${query}&format=csv`, {
      headers: { authorization: `Bearer ${api.keys[caller]}` },
    });
    expect(csv.status).toBe(200);
    const lines = (await csv.text()).split("\r\n").slice(1, 2 + expected.length);
    // Names of the small world have no commas; a ratio or price without a value is an empty cell.
    expect(lines.map((line) => line.split(",").slice(1))).toEqual([
      ...expected.map((cells) => cells.map((cell) => String(cell ?? ""))),
      ["", ...totals.map((cell) => String(cell ?? ""))],
    ]);
  },
);

test("with bom=1 a CSV begins with a byte order mark, and is the same behind it (G252)", async () => {
  const bytesOf = async (path: string): Promise<Buffer> => {
    const headers = { authorization: `Bearer ${api.keys.admin}` };
    const answer = await fetch(`${api.origin}/api/v1${path}`, { headers });
    expect(answer.status).toBe(200);
    return Buffer.from(await answer.arrayBuffer());
  };
  const query = new URLSearchParams({ ...DAY, format: "csv" });
  for (const path of ["/reports", "/conversions", "/clicks"]) {
    const plain = await bytesOf(`${path}?${query}`);
    const marked = await bytesOf(`${path}?${query}&bom=1`);
    expect(plain[0]).not.toBe(0xef);
    expect(marked).toEqual(Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), plain]));
  }
});
