import { describe, expect, test } from "vitest";
import { compileReport } from "./compile-report.ts";
import type { DayRates } from "./report-plan.ts";
import { parseReportRequest, type ReportQuery } from "./report-request.ts";
import type { ReportScope } from "./report-scope.ts";

const STAFF: ReportScope = { role: "staff", workspaceId: 7 };
const NO_RATES = { currencies: [], dates: [], numerators: [], denominators: [] };

const CLUSTER = { name: "tracker", database: "our`s" };

function compile(
  query: Partial<ReportQuery>,
  scope: ReportScope = STAFF,
  costRates?: DayRates,
  cluster?: typeof CLUSTER,
) {
  const request = parseReportRequest(
    { from: "2025-02-03", to: "2025-02-03", tz: "UTC", filters: [], ...query },
    { role: scope.role, nowMs: 0, workspaceTimezone: "UTC", workspaceCurrency: "USD" },
  );
  return compileReport({ ...request, scope, managers: undefined, costRates }, cluster);
}

/** The conditions of each source in the order click, impression, conversion and, for staff, cost. */
function conditions(query: Partial<ReportQuery>, scope: ReportScope = STAFF): string[] {
  const { text } = compile(query, scope, NO_RATES);
  return [...text.matchAll(/^ {4}where ([^]*?)\n {4}group by/gm)].map(([, where = ""]) => where);
}

describe("in a cluster", () => {
  test("all clicks and impressions are one select that each shard runs as a whole", () => {
    const query = { group_by: "offer,date", metrics: "clicks,impressions" };
    for (const compare of [undefined, "2025-02-01..2025-02-01"]) {
      const { text } = compile({ ...query, compare }, STAFF, NO_RATES, CLUSTER);
      const [, inner = ""] = /cluster\('tracker', view\(\n([^]*?)\n *\)\)/.exec(text) ?? [];
      expect(text.match(/cluster\(/g)).toHaveLength(1);
      expect(inner.match(/from `our\\`s`\.(click|impression)$/gm)).toHaveLength(
        compare === undefined ? 2 : 4,
      );
      expect(text.replace(inner, "")).not.toMatch(/from `our|from click|from impression/);
      expect(inner).not.toContain("_fact");
    }
  });

  test("only the sources of clicks and impressions differ from the statement of one server", () => {
    const query = { group_by: "country", metrics: "clicks" };
    const { params } = compile(query);
    expect(compile(query, STAFF, undefined, CLUSTER).params).toEqual(params);
  });
});

test("the whole statement of a small report", () => {
  expect(compile({ group_by: "offer,date", metrics: "clicks,epc" })).toMatchInlineSnapshot(`
    {
      "params": {
        "int32_1": 0,
        "int64_4": 1738540800000,
        "int64_5": 1738627199999,
        "string_0": "USD",
        "uint32_2": 7,
        "uint32_3": 20122,
        "uint64_6": 1000,
        "uint64_7": 0,
      },
      "text": "select
      d0,
      d1,
      arrayMap(value -> toString(value), arrayMap((part, whole, factor, is_left_out) -> if(is_left_out, null, if(whole = 0, null, intDivOrZero(abs(part) * factor + abs(whole), abs(whole) * 2) * sign(part) * sign(whole))), [clicks, payout], [1, home_clicks], [2, 2], [0, foreign_money != 0])) as metrics,
      others
    from (
      select
        d0,
        d1,
        sum(s_clicks) as clicks,
        sumIf(s_payout, cur = {string_0:String}) as payout,
        sumIf(s_clicks, cur in ('', {string_0:String})) as home_clicks,
        toUInt64(0) as foreign_money,
        arraySort(arrayDistinct(groupArrayIf(cur, cur not in ('', {string_0:String}) and (s_payout != 0 or s_revenue != 0 or s_sale_amount != 0 or s_ad_cost != 0)))) as others
      from (
        select offer_id as d0, intDiv(((toInt64(intDiv(toUnixTimestamp(ts), 86400)) * 86400) + {int32_1:Int32}), 86400) as d1, currency as cur, toInt64(count()) as s_clicks, toInt128(sum(click_payout) * 10000) as s_payout, toInt128(sum(click_revenue) * 10000) as s_revenue, toInt128(0) as s_sale_amount, toInt128(0) as s_ad_cost
        from click
        where workspace_id = {uint32_2:UInt32}
          and intDiv(toUnixTimestamp(ts), 86400) >= {uint32_3:UInt32}
          and intDiv(toUnixTimestamp(ts), 86400) <= {uint32_3:UInt32}
          and status != 'blocked'
        group by d0, d1, cur
        union all
        select offer_id as d0, intDiv(((toInt64(intDiv(toUnixTimestamp(ts), 86400)) * 86400) + {int32_1:Int32}), 86400) as d1, '' as cur, toInt64(0) as s_clicks, toInt128(0) as s_payout, toInt128(0) as s_revenue, toInt128(0) as s_sale_amount, toInt128(0) as s_ad_cost
        from impression
        where workspace_id = {uint32_2:UInt32}
          and intDiv(toUnixTimestamp(ts), 86400) >= {uint32_3:UInt32}
          and intDiv(toUnixTimestamp(ts), 86400) <= {uint32_3:UInt32}
        group by d0, d1, cur
        union all
        select offer_id as d0, intDiv((toInt64(toUnixTimestamp(conv_ts)) + {int32_1:Int32}), 86400) as d1, currency as cur, toInt64(0) as s_clicks, toInt128(sumIf(payout, status = 'approved') * 10000) as s_payout, toInt128(sumIf(revenue, status = 'approved') * 10000) as s_revenue, toInt128(sumIf(sale_amount, status = 'approved') * 10000) as s_sale_amount, toInt128(0) as s_ad_cost
        from conversion_fact final
        where workspace_id = {uint32_2:UInt32}
          and conv_ts >= fromUnixTimestamp64Milli({int64_4:Int64}, 'UTC')
          and conv_ts <= fromUnixTimestamp64Milli({int64_5:Int64}, 'UTC')
        group by d0, d1, cur
      )
      group by d0, d1 with totals
    )
    order by clicks desc nulls last, d0, d1
    limit {uint64_6:UInt64} offset {uint64_7:UInt64}
    settings do_not_merge_across_partitions_select_final = 1, enable_shared_storage_snapshot_in_query = 1",
    }
  `);
});

describe("only what is asked for is read", () => {
  const sumsOf = (text: string): string[] => [
    ...new Set([...text.matchAll(/ as s_(\w+)/g)].map(([, name = ""]) => name)),
  ];
  const EARNED = ["payout", "revenue", "sale_amount", "ad_cost"];

  test("sums of the metrics and of the order, and money that may be in another currency", () => {
    const query = { group_by: "offer", metrics: "clicks", sort: "offer" };
    expect(sumsOf(compile(query).text)).toEqual(["clicks", ...EARNED]);
    expect(sumsOf(compile({ ...query, sort: "-conversions" }).text)).toEqual(
      expect.arrayContaining(["approved"]),
    );
    const compared = { ...query, compare: "previous", sort: "change.bot_clicks" };
    expect(sumsOf(compile(compared).text)).toEqual(expect.arrayContaining(["bot_clicks"]));
    const partner = { role: "partner", workspaceId: 7, ownerId: 5 } as const;
    expect(sumsOf(compile(query, partner).text)).not.toContain("revenue");
  });

  test("impressions only where they are counted or make rows", () => {
    const reads = (query: Partial<ReportQuery>): boolean =>
      compile(query).text.includes("from impression");
    expect(reads({ metrics: "clicks" })).toBe(false);
    expect(reads({ metrics: "clicks,ctr" })).toBe(true);
    expect(reads({ metrics: "clicks", group_by: "offer" })).toBe(true);
  });

  test("the hours of many days are one list", () => {
    const { text, params } = compile({
      from: "2025-02-03",
      to: "2025-02-09",
      tz: "America/New_York",
      group_by: "date,country",
      metrics: "clicks",
    });
    const night = Date.UTC(2025, 1, 4) / 1_800_000;
    const list = Object.values(params).find((one) => Array.isArray(one) && one.includes(night));
    // The first ten half hours of six days of UTC are still the day before in New York.
    expect(list).toHaveLength(60);
    expect(text).toMatch(/and intDiv\(toUnixTimestamp\(ts\), 1800\) in \{\w+:Array\(UInt32\)\}\n/);
  });
});

test("of few rows no projection is looked at, and many are read by them", () => {
  const request = parseReportRequest(
    { from: "2025-02-03", to: "2025-02-03", tz: "UTC", filters: [] },
    { role: "staff", nowMs: 0, workspaceTimezone: "UTC", workspaceCurrency: "USD" },
  );
  const plan = { ...request, scope: STAFF, managers: undefined, costRates: undefined };
  const setting = "optimize_use_projections = 0";
  expect(compileReport({ ...plan, hasFewRows: true }, undefined).text).toContain(setting);
  expect(compileReport({ ...plan, hasFewRows: false }, undefined).text).not.toContain(setting);
});

describe("scopes", () => {
  test("a partner reads own rows and no private events (REP-054, G190)", () => {
    const scope = { role: "partner", workspaceId: 7, ownerId: 5 } as const;
    const { params } = compile({}, scope);
    const [clicks, impressions, conversions] = conditions({}, scope);
    for (const where of [clicks, impressions, conversions]) {
      expect(where).toMatch(/^workspace_id = \{\w+:UInt32\}\n +and affiliate_id = \{\w+:UInt32\}/);
    }
    expect(conversions).toContain("and not is_private");
    expect(Object.values(params)).toEqual(expect.arrayContaining([7, 5]));
  });

  test("an advertiser reads rows of own offers (REP-059)", () => {
    for (const where of conditions({}, { role: "advertiser", workspaceId: 7, ownerId: 5 })) {
      expect(where).toContain("and advertiser_id = {");
      expect(where).not.toContain("is_private");
    }
  });
});

describe("filters", () => {
  test("values are parameters and never text", () => {
    const evil = "x'; drop table click; --";
    const { text, params } = compile({ filters: [`sub1:in:${encodeURIComponent(evil)}`] });
    expect(text).not.toContain("drop");
    expect(Object.values(params)).toContainEqual([evil]);
  });

  test("a filter on an attribute of conversions leaves clicks and impressions alone", () => {
    const [clicks, impressions, conversions] = conditions({ filters: ["status:in:approved"] });
    expect(conversions).toMatch(/and status in \{/);
    expect(clicks).not.toMatch(/and status in/);
    expect(impressions).not.toContain("and status");
  });

  test("a filter on an attribute of clicks leaves the others alone", () => {
    const [clicks, impressions, conversions] = conditions({ filters: ["is_bot:in:false"] });
    expect(clicks).toContain("is_bot");
    expect(impressions).not.toMatch(/is_bot|false/);
    expect(conversions).not.toMatch(/is_bot|false/);
  });

  test("a source without the dimension has its empty value", () => {
    expect(compile({ filters: ["link_type:in:smart"] }).text).not.toContain("from impression");
    expect(conditions({ filters: ["link_type:not_in:smart"] })[1]).not.toContain("false");
    expect(compile({ filters: ["link_type:not_in:smart"] }).text).toContain("from impression");
  });
});

describe("time", () => {
  test("a range with a change of clocks has both offsets (T71)", () => {
    const { text, params } = compile({
      from: "2025-03-29",
      to: "2025-03-31",
      tz: "Europe/Berlin",
      group_by: "date",
    });
    expect(text).toContain("multiIf(");
    expect(Object.values(params)).toEqual(
      expect.arrayContaining([3_600, 7_200, Date.UTC(2025, 2, 30, 1) / 1_000]),
    );
  });

  test("clicks of a zone's days are read by days of UTC, and rows of another day are moved (T71)", () => {
    const { text } = compile({
      from: "2025-02-03",
      to: "2025-02-05",
      tz: "America/New_York",
      group_by: "date,os",
      metrics: "clicks",
    });
    const clicks = /from \(\n([^]*?having .*)/.exec(text)?.[1] ?? "";
    expect(clicks.replaceAll(/, [^,]* as s_\w+/g, "")).toMatchInlineSnapshot(`
      "  select
          d0,
          d1,
          sum(s_clicks) as clicks,
          arraySort(arrayDistinct(groupArrayIf(cur, cur not in ('', {string_0:String}) and (s_payout != 0 or s_revenue != 0 or s_sale_amount != 0 or s_ad_cost != 0)))) as others
        from (
          select piece.d0 as d0, piece.d1 as d1, piece.cur as cur
          from (
            select intDiv(((toInt64(intDiv(toUnixTimestamp(ts), 86400)) * 86400) + 0), 86400) as d0, os as d1, currency as cur
            from click
            where workspace_id = {uint32_1:UInt32}
              and intDiv(toUnixTimestamp(ts), 86400) >= {uint32_2:UInt32}
              and intDiv(toUnixTimestamp(ts), 86400) <= {uint32_3:UInt32}
              and status != 'blocked'
            group by d0, d1, cur
            union all
            select if(direction > 0, moved.to0, moved.from0) as d0, moved.d1 as d1, moved.cur as cur
            from (
              select intDiv((toInt64(toUnixTimestamp(ts)) + 0), 86400) as from0, intDiv((toInt64(toUnixTimestamp(ts)) + {int32_4:Int32}), 86400) as to0, os as d1, currency as cur
              from click
              where workspace_id = {uint32_1:UInt32}
                and ((ts >= fromUnixTimestamp64Milli({int64_5:Int64}, 'UTC')
                and ts <= fromUnixTimestamp64Milli({int64_6:Int64}, 'UTC'))
                or (ts >= fromUnixTimestamp64Milli({int64_7:Int64}, 'UTC')
                and ts <= fromUnixTimestamp64Milli({int64_8:Int64}, 'UTC')))
                and status != 'blocked'
              group by from0, to0, d1, cur
            ) as moved
            array join [1, -1] as direction
            union all
            select intDiv((toInt64(toUnixTimestamp(ts)) + {int32_4:Int32}), 86400) as d0, os as d1, currency as cur
            from click
            where workspace_id = {uint32_1:UInt32}
              and ((ts >= fromUnixTimestamp64Milli({int64_9:Int64}, 'UTC')
              and ts <= fromUnixTimestamp64Milli({int64_10:Int64}, 'UTC'))
              or (ts >= fromUnixTimestamp64Milli({int64_11:Int64}, 'UTC')
              and ts <= fromUnixTimestamp64Milli({int64_12:Int64}, 'UTC')))
              and status != 'blocked'
            group by d0, d1, cur
          ) as piece
          group by d0, d1, cur
          having sum(piece.s_clicks) != 0"
    `);
  });

  test("conversions are dated as asked (REP-067)", () => {
    expect(conditions({})[2]).toContain("conv_ts >=");
    expect(conditions({ date_basis: "click" })[2]).toContain("ifNull(click_ts, conv_ts) >=");
  });
});

describe("ad costs", () => {
  test("the rows of a range with a change of clocks, with the rates that exist", () => {
    const rates = {
      currencies: ["EUR"],
      dates: ["2025-03-30"],
      numerators: ["11000000000"],
      denominators: ["10000000000"],
    };
    const { text } = compile(
      {
        from: "2025-03-30",
        to: "2025-03-30",
        tz: "Europe/Berlin",
        group_by: "offer,country",
        metrics: "ad_cost",
      },
      STAFF,
      rates,
    );
    const [, , , cost = ""] = text.split(/\bunion all\n/);
    expect(cost.slice(0, cost.indexOf("group by"))).toMatchInlineSnapshot(`
      "    select offer_id as d0, '' as d1, cost_currency as cur, toInt64(0) as s_clicks, toInt128(0) as s_payout, toInt128(0) as s_revenue, toInt128(0) as s_sale_amount, toInt128(sum(cost)) as s_ad_cost
          from (
            select workspace_id, offer_id, affiliate_id, advertiser_id, traffic_source, ext_campaign_id, ext_adgroup_id,
              fromUnixTimestamp64Milli((toInt64(toUnixTimestamp(wall_time)) - multiIf(toInt64(toUnixTimestamp(wall_time)) < {int64_6:Int64}, {int32_7:Int32}, {int32_8:Int32})) * 1000, 'UTC') as ts,
              if(currency = {string_0:String} or denominator = 0, toInt256(toDecimal128(amount, 4) * 10000), intDivOrZero(toInt256(toDecimal128(amount, 4) * 10000) * numerator * 2 + denominator, denominator * 2)) as cost,
              if(denominator = 0, currency, {string_0:String}) as cost_currency
            from ad_cost_fact final
            any left join (
              select rate.1 as rated_currency, toDate(rate.2) as rated_date, toInt256(rate.3) as numerator, toInt256(rate.4) as denominator
              from (select arrayJoin(arrayZip({arraystring_9:Array(String)}, {arraystring_10:Array(String)}, {arraystring_11:Array(String)}, {arraystring_12:Array(String)})) as rate)
            ) as rates on currency = rated_currency and toDate(wall_time) = rated_date
            where workspace_id = {uint32_1:UInt32}
              and wall_time >= toDateTime({int64_13:Int64}, 'UTC') and wall_time < toDateTime({int64_14:Int64}, 'UTC')
          )
          where workspace_id = {uint32_1:UInt32}
            and ts >= fromUnixTimestamp64Milli({int64_4:Int64}, 'UTC')
            and ts <= fromUnixTimestamp64Milli({int64_5:Int64}, 'UTC')
          "
    `);
  });

  test("only staff has them, and no report without costs (REP-056, REP-061)", () => {
    expect(compile({}, STAFF, NO_RATES).text).toContain("ad_cost_fact");
    expect(compile({}).text).not.toContain("ad_cost_fact");
    for (const role of ["partner", "advertiser"] as const) {
      const { text } = compile({}, { role, workspaceId: 7, ownerId: 5 }, NO_RATES);
      expect(text).not.toContain("ad_cost_fact");
    }
  });

  test.each([
    ["country:in:US", false],
    ["country:starts_with:U", false],
    ["country:not_empty", false],
    ["manager:in:0", false],
    ["method:in:s2s", false],
    ["country:not_in:US", true],
    ["country:not_contains:U", true],
    ["country:empty", true],
    ["is_bot:not_in:true", true],
    ["event:in:sale", true],
    ["status:not_in:pending", true],
  ])("with %s they are kept: %s (REP-050, REP-051, REP-052)", (filter, isKept) => {
    const { text } = compile({ filters: [filter] }, STAFF, NO_RATES);
    expect(text.includes("from ad_cost_fact")).toBe(isKept);
    expect(text).not.toContain("and false");
  });

  test("how conversions are dated does not move them (REP-067)", () => {
    expect(conditions({ date_basis: "click" })[3]).toEqual(conditions({})[3]);
  });
});
