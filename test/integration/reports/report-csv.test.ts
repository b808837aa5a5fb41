import { describe, expect, test } from "vitest";
import { getReport } from "../../../api/reports/get-report.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { aClick } from "./facts.ts";
import { DAY, openSmallWorld } from "./small-world.ts";

const world = await forThisFile(openSmallWorld());

describe("CSV", () => {
  const query = {
    ...DAY,
    format: "csv",
    group_by: "offer,source_id",
    metrics: "clicks,payout,cvr",
    sort: "offer",
  };

  test("has header, rows, totals and a note of currencies left out (REP-043, REP-044, REP-045, G77)", async () => {
    const [first, second, , fourth] = world.seed.offerIds;
    expect(await world.text(getReport, query)).toBe(
      [
        "Offer,Offer ID,Source ID,Clicks,Payout (USD),CVR",
        `Offer 1,${first},,4,11.0000,1`,
        `Offer 2,${second},,3,0.2000,0`,
        `Offer 4,${fourth},,0,0.0000,`,
        "Totals,,,7,11.2000,0.75",
        "Note: amounts in EUR are not included",
        "",
      ].join("\r\n"),
    );
    const all = await world.text(getReport, { ...query, filters: "currency:in:USD" });
    expect(all).not.toContain("Note:");
  });

  test("hides the same fields from roles as JSON (REP-062, VIS-051)", async () => {
    const advertiser = await world.text(
      getReport,
      { ...DAY, format: "csv", group_by: "affiliate" },
      "advertiser",
    );
    expect(advertiser).toContain(`Partner ${world.seed.affiliateIds[0]}`);
    expect(advertiser).not.toMatch(/Affiliate 1|Payout|Profit|Bot/);
    const partner = await world.text(getReport, { ...DAY, format: "csv" }, "partner");
    expect(partner).not.toMatch(/Revenue|Profit|Margin|Bot/);
    expect(partner.split("\r\n")[1]).toMatch(/^All,/);
  });

  test("a cell that a spreadsheet would execute is text; limit and offset are ignored (G77)", async () => {
    const ts = Date.parse("2025-06-01T10:00:00Z");
    await world.store({
      clicks: ["=1+1", "@x", "+y", "-z", 'a"b,c'].map((source_id) =>
        aClick(world, { source_id, ts }),
      ),
    });
    const text = await world.text(getReport, {
      from: "2025-06-01",
      to: "2025-06-01",
      format: "csv",
      group_by: "source_id",
      metrics: "clicks",
      limit: "1",
      offset: "3",
    });
    expect(text.split("\r\n").slice(1, 6).toSorted()).toEqual(
      [`"a""b,c",1`, "'+y,1", "'-z,1", "'=1+1,1", "'@x,1"].toSorted(),
    );
  });

  test("has at most 200,000 rows, and then the totals of all (LIM-014)", async () => {
    const ts = Date.parse("2025-07-01T10:00:00Z");
    await world.store({ clicks: [aClick(world, { source_id: "seed", ts })] });
    const many = 200_001;
    await world.clickhouse.command({
      query: `insert into click
              select c.* replace (concat('s', toString(n.number)) as source_id, 1000000 + n.number as _position)
              from (select * from click where source_id = 'seed') c cross join numbers(${many}) n`,
      clickhouse_settings: { wait_end_of_query: 1 },
    });
    const text = await world.text(getReport, {
      from: "2025-07-01",
      to: "2025-07-01",
      format: "csv",
      group_by: "source_id",
      metrics: "clicks",
    });
    const lines = text.trimEnd().split("\r\n");
    expect(lines).toHaveLength(1 + 200_000 + 1);
    expect(lines.at(-1)).toBe(`Totals,${many + 1}`);
  });
});
