import { describe, expect, test } from "vitest";
import { dimensionNames } from "../../../api/reports/dimensions.ts";
import { getReport } from "../../../api/reports/get-report.ts";
import { words } from "../../samples/words.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { aClick, aConversion } from "./facts.ts";
import { rowsOf } from "./report-world.ts";
import { openSmallWorld, refusal, report, rows, totals } from "./small-world.ts";

const world = await forThisFile(openSmallWorld());

describe("the shape of an answer", () => {
  test("without group_by one row equals the totals (REP-001, REP-014, G79)", async () => {
    const answer = await report(world);
    expect(Object.keys(answer).toSorted()).toEqual(
      words(`
  columns currency data date_basis group_by metrics next_offset other_currencies range
  total_rows totals
`).toSorted(),
    );
    expect(answer).toMatchObject({
      total_rows: 1,
      next_offset: null,
      group_by: [],
      date_basis: "conversion",
    });
    expect(answer["data"]).toEqual([answer["totals"]]);
    expect(answer["range"]).toEqual({
      from: "2025-02-03T00:00:00.000Z",
      to: "2025-02-03T23:59:59.999Z",
      tz: "UTC",
    });
  });

  test("a range from 1970 is answered in zones whose first day begins in 1969 in UTC (G29)", async () => {
    const range = { from: "1970-01-01", tz: "Europe/Berlin" };
    const whole = await totals(world, { ...range, metrics: "clicks" });
    const days = await rows(world, { ...range, metrics: "clicks", group_by: "date" });
    expect(days.reduce((sum, { clicks }) => sum + Number(clicks), 0)).toBe(whole["clicks"]);
    expect(await totals(world, { ...range, to: "1970-01-01T00:30", metrics: "clicks" })).toEqual({
      clicks: 0,
    });
  });

  test.each([
    ["yesterday", "UTC", "2025-02-04T00:00:00.000Z", "2025-02-04T23:59:59.999Z"],
    // The local time is 00:30 on 6 February.
    ["yesterday", "Europe/Berlin", "2025-02-04T23:00:00.000Z", "2025-02-05T22:59:59.999Z"],
    ["last_week", "Asia/Kathmandu", "2025-01-26T18:15:00.000Z", "2025-02-02T18:14:59.999Z"],
  ])(
    "%s in %s is returned as the instants of its start and end (REP-068)",
    async (preset, tz, from, to) => {
      world.nowMs = Date.parse("2025-02-05T23:30:00Z");
      try {
        const answer = await world.get(getReport, { preset, tz, metrics: "clicks" });
        expect(answer["range"]).toEqual({ from, to, tz });
      } finally {
        world.nowMs = undefined;
      }
    },
  );

  test("an empty scope has one row of zeros, and no rows when it is grouped (G79)", async () => {
    const empty = { from: "2024-01-01", to: "2024-01-01" };
    expect(await rows(world, { ...empty, metrics: "clicks,cvr,payout,epc" })).toEqual([
      { clicks: 0, cvr: null, payout: "0.0000", epc: null },
    ]);
    const grouped = await report(world, {
      ...empty,
      group_by: "offer",
      metrics: "clicks",
    });
    expect(grouped).toMatchObject({
      data: [],
      total_rows: 0,
      totals: { clicks: 0 },
      next_offset: null,
    });
  });

  test("rows have labels of entities, columns are in order (REP-006, REP-007, REP-008)", async () => {
    const answer = await report(world, {
      group_by: "offer,date",
      metrics: "clicks,payout",
      limit: "1",
    });
    const offer = world.seed.offerIds[0];
    expect(answer["data"]).toEqual([
      {
        offer,
        offer_label: "Offer 1",
        offer_sub: "OFFER1",
        date: "2025-02-03",
        date_label: "2025-02-03",
        date_sub: "Monday",
        clicks: 4,
        payout: "11.0000",
      },
    ]);
    expect(answer).toMatchObject({ group_by: ["offer", "date"], metrics: ["clicks", "payout"] });
    expect(answer["columns"]).toEqual([
      { key: "offer", label: "Offer", kind: "dimension", format: "entity" },
      { key: "date", label: "Date", kind: "dimension", format: "date" },
      { key: "clicks", label: "Clicks", kind: "metric", format: "number" },
      { key: "payout", label: "Payout", kind: "metric", format: "money" },
    ]);
  });

  test("pages have the same totals, the last next_offset is null (REP-009, REP-010, REP-012, REP-013, T35)", async () => {
    const query = { group_by: "offer", metrics: "clicks", limit: "2" };
    const first = await report(world, query);
    expect(first).toMatchObject({ total_rows: 3, next_offset: 2, totals: { clicks: 7 } });
    const last = await report(world, { ...query, offset: "2" });
    expect(last).toMatchObject({ total_rows: 3, next_offset: null, totals: { clicks: 7 } });
    expect([...rowsOf(first["data"]), ...rowsOf(last["data"])]).toHaveLength(3);
    const beyond = await report(world, { ...query, offset: "3" });
    expect(beyond).toMatchObject({
      data: [],
      total_rows: 3,
      next_offset: null,
      totals: { clicks: 7 },
    });
  });
});

describe("metrics", () => {
  test("counts and ratios are those of the rows (REP-021, REP-064, T31)", async () => {
    const first = { filters: `offer:in:${world.seed.offerIds[0]}` };
    expect(await totals(world, first)).toMatchObject({
      clicks: 4,
      unique_clicks: 2,
      bot_clicks: 1,
      impressions: 3,
      conversions: 2,
      pending_conversions: 1,
      rejected_conversions: 1,
      ctr: 1.333333,
      cvr: 1,
    });
  });

  test("money is of approved conversions, null at a zero denominator (ENV-010, REP-029, REP-035)", async () => {
    const first = { filters: `offer:in:${world.seed.offerIds[0]}` };
    expect(await totals(world, first)).toMatchObject({
      revenue: "30.0000",
      payout: "11.0000",
      profit: "19.0000",
      margin: 0.633333,
      epc: "2.7500",
      rpc: "7.5000",
      cpc: "2.7500",
      sale_amount: "100.0001",
      avg_sale_amount: "50.0001",
    });
    expect(await totals(world, { filters: "country:in:FR" })).toMatchObject({
      margin: null,
      ctr: null,
      cvr: null,
    });
  });

  test("clicks of cpc and rpc offers have the money of their rows (REP-037, REP-038, G71)", async () => {
    expect(await totals(world, { filters: `offer:in:${world.seed.offerIds[1]}` })).toMatchObject({
      clicks: 3,
      unique_clicks: 2,
      payout: "0.2000",
      revenue: "0.6000",
      conversions: 0,
    });
  });

  test("counts cover all currencies, money one, others are named (ENV-021, REP-039, REP-041, REP-042, T33)", async () => {
    const usd = await report(world);
    expect(usd).toMatchObject({
      currency: "USD",
      other_currencies: ["EUR"],
      totals: { conversions: 3, revenue: "30.6000" },
    });
    const eur = await report(world, { currency: "EUR" });
    expect(eur).toMatchObject({
      currency: "EUR",
      other_currencies: ["USD"],
      totals: { conversions: 3, revenue: "15.0000" },
    });
    const one = await report(world, { filters: "currency:in:USD" });
    expect(one["other_currencies"]).toEqual([]);
  });

  test("conversions are dated by their own time, or by the click's on request (REP-067, G78)", async () => {
    expect(await totals(world, {})).toMatchObject({ conversions: 3 });
    expect(await totals(world, { date_basis: "click" })).toMatchObject({ conversions: 4 });
    expect(await totals(world, { from: "2025-02-04", to: "2025-02-04" })).toMatchObject({
      conversions: 1,
    });
  });

  test("a later version of a conversion replaces the earlier one before a merge (REP-069)", async () => {
    const conversion = aConversion(world, { conv_ts: Date.parse("2025-03-01T10:00:00Z") });
    const day = { from: "2025-03-01", to: "2025-03-01" };
    await world.store({ conversions: [conversion] });
    expect(await totals(world, day)).toMatchObject({ conversions: 1, payout: "10.0000" });
    await world.store({ conversions: [{ ...conversion, version: 2, status: "rejected" }] });
    expect(await totals(world, day)).toMatchObject({
      conversions: 0,
      rejected_conversions: 1,
      payout: "0.0000",
    });
  });
});

describe("grouping, sorting and filtering", () => {
  test("rows are sorted by any metric or dimension, by default by clicks (REP-015, G68)", async () => {
    const [first, second, , fourth] = world.seed.offerIds;
    const order = async (query: Record<string, string>) =>
      (await rows(world, { group_by: "offer", ...query })).map((row) => row["offer"]);
    expect(await order({})).toEqual([first, second, fourth]);
    expect(await order({ sort: "clicks" })).toEqual([fourth, second, first]);
    expect(await order({ sort: "-offer" })).toEqual([fourth, second, first]);
    expect(await order({ sort: "-cvr" }), "rows without a ratio are last").toEqual([
      first,
      second,
      fourth,
    ]);
  });

  test("filter terms include, exclude and are combined (REP-017, REP-018, REP-019)", async () => {
    const [first, second] = world.seed.offerIds;
    expect(await totals(world, { filters: `offer:in:${first}|${second}` })).toMatchObject({
      clicks: 7,
    });
    expect(await totals(world, { filters: "country:not_in:US" })).toMatchObject({ clicks: 1 });
    expect(await totals(world, { filters: `offer:in:${first},country:not_in:DE` })).toMatchObject({
      clicks: 3,
    });
  });

  test("facts without a value of the dimension are in the row of the empty value (REP-064, G73, T73)", async () => {
    const byEvent = await rows(world, {
      group_by: "event",
      metrics: "clicks,impressions,conversions",
      sort: "event",
    });
    expect(byEvent).toEqual([
      { event: "", event_label: "", event_sub: "", clicks: 7, impressions: 3, conversions: 0 },
      {
        event: "deposit",
        event_label: "deposit",
        event_sub: "",
        clicks: 0,
        impressions: 0,
        conversions: 1,
      },
      {
        event: "sale",
        event_label: "A sale",
        event_sub: "",
        clicks: 0,
        impressions: 0,
        conversions: 2,
      },
    ]);
    const byReason = await rows(world, {
      group_by: "status_reason",
      metrics: "clicks,conversions",
      sort: "status_reason",
    });
    expect(byReason).toMatchObject([
      { status_reason: "", clicks: 6, conversions: 3 },
      { status_reason: "paused", clicks: 1, conversions: 0 },
    ]);
  });

  test("days, weeks, months and hours are those of tz (REP-065, REP-066, G65)", async () => {
    const range = {
      from: "2025-02-02T00:00:00Z",
      to: "2025-02-04T00:00:00Z",
      filters: "country:in:FR",
      metrics: "clicks",
    };
    const value = async (dimension: string, tz: string) =>
      (await rows(world, { ...range, tz, group_by: dimension }))[0];
    expect(await value("date", "UTC")).toMatchObject({ date: "2025-02-02", date_sub: "Sunday" });
    expect(await value("date", "Europe/Berlin")).toMatchObject({ date: "2025-02-03" });
    expect(await value("hour", "Asia/Kathmandu")).toMatchObject({ hour: "2025-02-03T05:00" });
    expect(await value("week", "UTC")).toMatchObject({
      week: "2025-01-27",
      week_label: "2025-W05",
    });
    expect(await value("week", "Asia/Kolkata")).toMatchObject({
      week: "2025-02-03",
      week_label: "2025-W06",
    });
    expect(await value("month", "UTC")).toMatchObject({ month: "2025-02" });
  });

  test("reports can be grouped by every dimension (REP-003)", async () => {
    const names = dimensionNames("staff");
    expect(names).toEqual(
      expect.arrayContaining(
        words(`
  offer affiliate advertiser date hour week month event status country traffic_source
  ext_campaign_id ext_adgroup_id
`),
      ),
    );
    for (const name of names) {
      const [row] = await rows(world, { group_by: name, metrics: "clicks" });
      expect(row, name).toHaveProperty(name);
    }
  });

  test("values that look like SQL or separators are plain values", async () => {
    const strange = "x'), ('|,:\\";
    await world.store({
      clicks: [aClick(world, { source_id: strange, ts: Date.parse("2025-05-01T10:00:00Z") })],
    });
    const filters = `source_id:in:${encodeURIComponent(strange)}`;
    const day = { from: "2025-05-01", to: "2025-05-01" };
    expect(
      await rows(world, { ...day, filters, group_by: "source_id", metrics: "clicks" }),
    ).toMatchObject([{ source_id: strange, clicks: 1 }]);
  });
});

test.each([
  [{ group_by: "offer,date,country,event" }, "group_by"],
  [{ group_by: "foo" }, "group_by"],
  [{ metrics: "clicks,foo" }, "metrics"],
  [{ sort: "-foo" }, "sort"],
  [{ sort: "offer" }, "sort"],
  [{ filters: "foo:in:1" }, "filters"],
  [{ limit: "10001" }, "limit"],
  [{ limit: "0" }, "limit"],
  [{ limit: "1.5" }, "limit"],
  [{ offset: "-1" }, "offset"],
  [{ currency: "ABCD" }, "currency"],
  [{ currency: "usd" }, "currency"],
  [{ format: "xls" }, "format"],
  [{ date_basis: "cost" }, "date_basis"],
  [{ tz: "Mars/Base" }, "tz"],
  [{ preset: "foo" }, "preset"],
  [{ from: "notadate" }, "from"],
] as const)(
  "%j is refused as %s (REP-002, REP-004, REP-005, REP-011, REP-016, REP-020, REP-040, REP-046)",
  async (query, param) => {
    expect(await refusal(report(world, { ...query }))).toEqual(["invalid_parameter", param]);
  },
);
