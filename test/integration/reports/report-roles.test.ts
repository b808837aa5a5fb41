import { describe, expect, test } from "vitest";
import { forThisFile } from "../../services/for-this-file.ts";
import { rowsOf } from "./report-world.ts";
import { openSmallWorld, refusal, report, rows, STAFF_METRICS } from "./small-world.ts";

const world = await forThisFile(openSmallWorld());

describe("roles", () => {
  test("a partner sees own traffic, without private events (REP-054, REP-058, G190)", async () => {
    const answer = await report(world, {}, "partner");
    expect(answer["totals"]).toMatchObject({
      clicks: 4,
      conversions: 2,
      payout: "10.0000",
    });
    const usd = await report(world, { filters: "currency:not_in:EUR" }, "partner");
    expect(usd["totals"]).toMatchObject({ clicks: 4, epc: "2.5000" });
    const hidden = [...STAFF_METRICS, "revenue"];
    expect(
      Object.keys(rowsOf([answer["totals"]])[0] ?? {}).filter((name) => hidden.includes(name)),
    ).toEqual([]);
  });

  test("an advertiser sees own offers, revenue as cost, epc by revenue (REP-059, REP-063, G70)", async () => {
    const answer = await report(world, {}, "advertiser");
    expect(answer["totals"]).toMatchObject({
      clicks: 4,
      conversions: 2,
      revenue: "30.0000",
      epc: "7.5000",
    });
    const hidden = [...STAFF_METRICS, "payout"];
    expect(
      Object.keys(rowsOf([answer["totals"]])[0] ?? {}).filter((name) => hidden.includes(name)),
    ).toEqual([]);
  });

  test("an advertiser sees no names of partners (REP-062, G66)", async () => {
    const [id] = world.seed.affiliateIds;
    expect(await rows(world, { group_by: "affiliate", metrics: "clicks" }, "advertiser")).toEqual([
      { affiliate: id, affiliate_label: `Partner ${id}`, affiliate_sub: "", clicks: 4 },
    ]);
  });

  test.each([...STAFF_METRICS, "revenue"])(
    "%s is refused to a partner, also in sort (REP-016, REP-055, REP-056)",
    async (metric) => {
      expect(await refusal(report(world, { metrics: metric }, "partner"))).toEqual([
        "invalid_parameter",
        "metrics",
      ]);
      expect(await refusal(report(world, { sort: `-${metric}` }, "partner"))).toEqual([
        "invalid_parameter",
        "sort",
      ]);
    },
  );

  test.each([...STAFF_METRICS, "payout"])(
    "%s is refused to an advertiser, also in sort (REP-016, REP-060, REP-061)",
    async (metric) => {
      expect(await refusal(report(world, { metrics: metric }, "advertiser"))).toEqual([
        "invalid_parameter",
        "metrics",
      ]);
      expect(await refusal(report(world, { sort: metric }, "advertiser"))).toEqual([
        "invalid_parameter",
        "sort",
      ]);
    },
  );

  test("a hidden dimension is refused in group_by and filters (REP-057, REP-070, VIS-059, G64)", async () => {
    for (const name of ["advertiser", "manager", "is_bot", "is_datacenter"]) {
      expect(await refusal(report(world, { group_by: name }, "partner")), name).toEqual([
        "invalid_parameter",
        "group_by",
      ]);
      expect(await refusal(report(world, { filters: `${name}:in:1` }, "partner")), name).toEqual([
        "invalid_parameter",
        "filters",
      ]);
    }
    for (const name of ["sub1", "sub10", "source_id", "smart_link", "manager", "is_bot"]) {
      expect(await refusal(report(world, { group_by: name }, "advertiser")), name).toEqual([
        "invalid_parameter",
        "group_by",
      ]);
      expect(await refusal(report(world, { filters: `${name}:in:1` }, "advertiser")), name).toEqual(
        ["invalid_parameter", "filters"],
      );
    }
  });
});
