import { afterEach, describe, expect, test } from "vitest";
import { getReport } from "../../../api/reports/get-report.ts";
import { getTimeseries } from "../../../api/reports/get-timeseries.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { aClick, aConversion } from "./facts.ts";
import { ReportWorld, type Row, rowsOf } from "./report-world.ts";
import { refusal, report } from "./small-world.ts";

const at = (time: string): number => Date.parse(`${time}Z`);
const world = await forThisFile(ReportWorld.open());
const [offer, other] = world.seed.offerIds;
const times = (...all: string[]) => all.map((time) => aClick(world, { ts: at(time) }));
await world.store({
  clicks: [
    // Two days in June, until 10:30 and after it.
    ...times("2025-06-10T09:00:00", "2025-06-10T10:29:59", "2025-06-10T10:30:01"),
    ...times("2025-06-11T08:00:00"),
    aClick(world, { ts: at("2025-06-10T09:00:00"), offer_id: other }),
    // Berlin: 26 October has 25 hours, 30 March 23.
    ...times(
      "2025-10-25T21:30:00",
      "2025-10-26T00:30:00",
      "2025-10-26T01:30:00",
      "2025-10-26T22:30:00",
    ),
    ...times("2025-10-27T01:30:00", "2025-03-29T01:30:00", "2025-03-30T01:30:00"),
    // 52 weeks before 11 June.
    ...times("2024-06-12T08:00:00", "2024-06-12T09:00:00"),
  ],
  conversions: [
    aConversion(world, { conv_ts: at("2025-06-10T09:00:00"), payout: "8.0000" }),
    aConversion(world, { conv_ts: at("2025-06-11T09:00:00"), payout: "10.0000" }),
  ],
});
const TODAY = { preset: "today", tz: "UTC", compare: "previous" };

afterEach(() => {
  world.nowMs = undefined;
});

async function series(query: Record<string, string>): Promise<Row & { data: Row[] }> {
  const answer = await world.get(getTimeseries, query);
  return { ...answer, data: rowsOf(answer["data"]) };
}

test("today until now is compared with yesterday until the same time (N102)", async () => {
  world.nowMs = at("2025-06-11T10:30:00");
  const answer = await world.get(getReport, {
    ...TODAY,
    group_by: "offer",
    metrics: "clicks,payout",
    sort: "offer",
  });
  expect(answer["compared_range"]).toEqual({
    from: "2025-06-10T00:00:00.000Z",
    to: "2025-06-10T10:30:00.000Z",
    tz: "UTC",
  });
  expect(rowsOf(answer["data"])).toMatchObject([
    {
      offer,
      clicks: 1,
      payout: "10.0000",
      previous: { clicks: 2, payout: "8.0000" },
      change: { clicks: -0.5, payout: 0.25 },
    },
    // This offer has rows only in the other period.
    {
      offer: other,
      clicks: 0,
      payout: "0.0000",
      previous: { clicks: 1, payout: "0.0000" },
      change: { clicks: -1, payout: null },
    },
  ]);
  expect(answer["totals"]).toMatchObject({
    clicks: 1,
    previous: { clicks: 3 },
    change: { clicks: -0.666667 },
  });
  expect(answer["total_rows"]).toBe(2);
});

test("rows are sorted and paged by the other period and by the change", async () => {
  const query = {
    from: "2025-06-11",
    to: "2025-06-11",
    tz: "UTC",
    compare: "previous",
    group_by: "offer",
    metrics: "clicks",
  };
  const offers = async (sort: string) =>
    rowsOf((await world.get(getReport, { ...query, sort }))["data"]).map((row) => row["offer"]);
  expect(await offers("-previous.clicks")).toEqual([offer, other]);
  expect(await offers("previous.clicks")).toEqual([other, offer]);
  // -0.666667 and -1
  expect(await offers("-change.clicks")).toEqual([offer, other]);
  const page = await world.get(getReport, { ...query, sort: "previous.clicks", limit: "1" });
  expect(page["next_offset"]).toBe(1);
  expect(rowsOf(page["data"])).toMatchObject([{ offer: other }]);
});

test("previous_year is 52 weeks before, and dates are any period of as many days", async () => {
  const day = { from: "2025-06-11", to: "2025-06-11", tz: "UTC", metrics: "clicks" };
  const year = await report(world, { ...day, compare: "previous_year" });
  expect(year["totals"]).toMatchObject({
    clicks: 1,
    previous: { clicks: 2 },
    change: { clicks: -0.5 },
  });
  const dates = await report(world, { ...day, compare: "2025-06-10..2025-06-10" });
  expect(dates["totals"]).toMatchObject({ clicks: 1, previous: { clicks: 4 } });
});

test("days are set beside days by their place, days of the week by their value", async () => {
  const two = {
    from: "2025-06-11",
    to: "2025-06-12",
    tz: "UTC",
    metrics: "clicks",
    compare: "2025-06-09..2025-06-10",
  };
  expect(rowsOf((await report(world, { ...two, group_by: "date" }))["data"])).toMatchObject([
    { date: "2025-06-11", clicks: 1, previous: { clicks: 0 } },
    { date: "2025-06-12", clicks: 0, previous: { clicks: 4 } },
  ]);
  // 10 June was a Tuesday.
  const week = await report(world, { ...two, group_by: "weekday", sort: "weekday" });
  expect(rowsOf(week["data"])).toMatchObject([
    { weekday: 2, clicks: 0, previous: { clicks: 4 } },
    { weekday: 3, clicks: 1, previous: { clicks: 0 } },
  ]);
});

describe("where the clocks change", () => {
  const berlin = { tz: "Europe/Berlin", metrics: "clicks", interval: "hour", totals: "1" };

  test("hours are set beside hours that show the same time; a repeated one adds up", async () => {
    const { data, totals } = await series({
      ...berlin,
      from: "2025-10-27",
      to: "2025-10-27",
      compare: "previous",
    });
    expect(data).toHaveLength(24);
    const previous = data.flatMap((row) => {
      const [{ clicks } = {}] = rowsOf([row["previous"]]);
      return clicks === 0 ? [] : [[row["bucket"], clicks]];
    });
    // 02:30 twice, and 23:30.
    expect(previous).toEqual([
      ["2025-10-27T01:00:00.000Z", 2],
      ["2025-10-27T22:00:00.000Z", 1],
    ]);
    expect(totals).toMatchObject({ clicks: 1, previous: { clicks: 3 } });
  });

  test("an hour that is skipped is shown as the hour after", async () => {
    const { data } = await series({
      ...berlin,
      from: "2025-03-30",
      to: "2025-03-30",
      compare: "previous",
    });
    expect(data).toHaveLength(23);
    // 02:30 the day before, which this day does not have.
    expect(data.find((row) => row["bucket"] === "2025-03-30T01:00:00.000Z")).toMatchObject({
      clicks: 1,
      previous: { clicks: 1 },
      change: { clicks: 0 },
    });
  });

  test("whole days are compared with whole days", async () => {
    const answer = await series({
      ...berlin,
      interval: "day",
      from: "2025-10-26",
      to: "2025-10-26",
      compare: "previous",
    });
    expect(answer["compared_range"]).toMatchObject({
      from: "2025-10-24T22:00:00.000Z",
      to: "2025-10-25T21:59:59.999Z",
    });
    expect(answer.data).toMatchObject([
      { bucket: "2025-10-26", clicks: 3, previous: { clicks: 1 } },
    ]);
  });
});

test("a series without traffic has empty values in both periods", async () => {
  const { data } = await series({
    from: "2025-01-01",
    to: "2025-01-01",
    tz: "UTC",
    metrics: "clicks,cvr",
    compare: "previous",
  });
  expect(data).toEqual([
    {
      bucket: "2025-01-01",
      clicks: 0,
      cvr: null,
      previous: { clicks: 0, cvr: null },
      change: { clicks: null, cvr: null },
    },
  ]);
});

test("a CSV has the other period and the change in columns after the metrics", async () => {
  const text = await world.text(getReport, {
    from: "2025-06-11",
    to: "2025-06-11",
    tz: "UTC",
    compare: "previous",
    format: "csv",
    group_by: "offer",
    metrics: "clicks,payout",
    sort: "offer",
  });
  expect(text.split("\r\n")).toEqual([
    'Offer,Offer ID,Clicks,Payout (USD),Clicks (previous),"Payout (USD, previous)",Clicks (change),Payout (change)',
    `Offer 1,${offer},1,10.0000,3,8.0000,-0.666667,0.25`,
    `Offer 2,${other},0,0.0000,1,0.0000,-1,`,
    "Totals,,1,10.0000,4,8.0000,-0.75,0.25",
    "",
  ]);
});

test.each([
  [{ compare: "last" }, "compare"],
  [{ compare: "2025-06-01..2025-06-02" }, "compare"],
  [{ compare: "2025-06-31..2025-06-31" }, "compare"],
  [{ compare: "2025-06-01T00:00:00Z..2025-06-01T10:00:00Z" }, "compare"],
  [{ compare: "1969-12-31..1969-12-31" }, "compare"],
  [{ compare: "9999-12-31..9999-12-31" }, "compare"],
  [{ sort: "previous.clicks" }, "sort"],
  [{ compare: "previous", sort: "previous.nothing" }, "sort"],
  [{ compare: "previous", sort: "next.clicks" }, "sort"],
  [{ compare: "previous", sort: "change.offer", group_by: "offer" }, "sort"],
  [{ convert: "2" }, "convert"],
] as const)("%o is refused", async (query, param) => {
  const day = { from: "2025-06-11", to: "2025-06-11", tz: "UTC" };
  expect(await refusal(world.get(getReport, { ...day, ...query }))).toEqual([
    "invalid_parameter",
    param,
  ]);
});

test("a role may not sort by what it may not see, of any period (REP-016)", async () => {
  const query = { from: "2025-06-11", to: "2025-06-11", tz: "UTC", compare: "previous" };
  for (const [caller, hidden] of [
    ["partner", "revenue"],
    ["advertiser", "payout"],
  ] as const)
    for (const word of ["previous", "change"])
      expect(
        await refusal(world.get(getReport, { ...query, sort: `${word}.${hidden}` }, { caller })),
      ).toEqual(["invalid_parameter", "sort"]);
});

test("without compare, convert and totals an answer has no key more", async () => {
  const query = { from: "2025-06-11", to: "2025-06-11", tz: "UTC", metrics: "clicks" };
  const { compared_range, conversion } = await world.get(getReport, query);
  expect([compared_range, conversion]).toEqual([undefined, undefined]);
  expect(Object.keys(await series(query)).toSorted()).toEqual([
    "data",
    "interval",
    "metrics",
    "range",
  ]);
});
