import { describe, expect, test } from "vitest";
import { z } from "zod";
import { forThisFile } from "../../services/for-this-file.ts";
import { ApiWorld, details, list, nextCursor, refusal, someId, someText } from "./api-world.ts";

const world = await forThisFile(ApiWorld.open());
const foreign = await world.addTenant("foreign");
const made = await world.offer({ code: "SHOES" });
const offer = { id: made.id, code: "SHOES" };

const Answer = z.object({
  data: z.object({
    inserted: z.int(),
    updated: z.int(),
    rejected: z.array(z.object({ row: z.int(), fields: z.record(z.string(), z.string()) })),
  }),
});

const COST = { date: "2026-02-01", currency: "USD", amount: "12.5" };

async function send(rows: readonly unknown[], key = world.tenant.keys.admin) {
  const answer = await world.post("/ad-costs", { rows }, key);
  expect(answer.status, answer.text).toBe(201);
  return Answer.parse(answer.body).data;
}

async function sendCsv(raw: string, type = "text/csv") {
  return await world.call("POST", "/ad-costs", { raw, headers: { "content-type": type } });
}

async function stored(query: string) {
  const rows = list(await world.get(`/ad-costs?limit=200&${query}`));
  return rows.map(({ date, hour, offer_id, currency, amount }) => [
    date,
    hour,
    offer_id,
    currency,
    amount,
  ]);
}

describe("POST /ad-costs", () => {
  test("all fields but the amount identify a cost, and the last amount counts (G75)", async () => {
    const full = {
      ...COST,
      hour: 7,
      offer_id: offer.id,
      affiliate_id: world.tenant.affiliateId,
      traffic_source: "google",
      ext_campaign_id: "c1",
      ext_adgroup_id: "g1",
    };
    expect(await send([full, COST])).toEqual({ inserted: 2, updated: 0, rejected: [] });
    expect(
      await send([
        { ...full, amount: "0" },
        { ...COST, hour: null },
      ]),
    ).toEqual({
      inserted: 0,
      updated: 2,
      rejected: [],
    });
    const others = [
      { date: "2026-02-02" },
      { hour: 8 },
      { offer_id: null },
      { affiliate_id: null },
      { traffic_source: "bing" },
      { ext_campaign_id: "" },
      { ext_adgroup_id: "" },
      { currency: "EUR" },
    ];
    expect(await send(others.map((other) => ({ ...full, ...other })))).toEqual({
      inserted: 8,
      updated: 0,
      rejected: [],
    });
    const rows = list(await world.get("/ad-costs?offer_id=" + String(offer.id)));
    expect(rows.find(({ amount }) => amount === "0.0000")).toEqual({
      id: someId,
      date: "2026-02-01",
      hour: 7,
      offer_id: offer.id,
      affiliate_id: world.tenant.affiliateId,
      traffic_source: "google",
      ext_campaign_id: "c1",
      ext_adgroup_id: "g1",
      currency: "USD",
      amount: "0.0000",
      created_at: someText,
      updated_at: someText,
    });
  });

  test("offer and partner are named by id or code; the advertiser is the offer's (G75, G25)", async () => {
    const date = "2026-02-03";
    const named = (offer_id: unknown, affiliate_id: unknown) => ({
      ...COST,
      date,
      offer_id,
      affiliate_id,
    });
    const byCode = named("shoes", world.tenant.affiliateCode.toLowerCase());
    const byId = named(String(offer.id), String(world.tenant.affiliateId));
    expect(await send([byCode])).toEqual({ inserted: 1, updated: 0, rejected: [] });
    expect((await send([byCode, byId])).rejected.map(({ row }) => row)).toEqual([1, 2]);
    const again = { ...byId, amount: "3" };
    expect(await send([again])).toEqual({ inserted: 0, updated: 1, rejected: [] });
    expect(await stored(`from=${date}&to=${date}`)).toEqual([
      [date, null, offer.id, "USD", "3.0000"],
    ]);
    const { rows } = await world.pool.query({
      text: "select advertiser_id from ad_cost where workspace_id = $1 and date = $2",
      values: [world.tenant.workspaceId, date],
    });
    expect(rows).toEqual([{ advertiser_id: world.tenant.advertiserId }]);
  });

  test("a cost that a call contains twice is reported, and none of its rows is stored (G253)", async () => {
    const date = "2026-02-04";
    const cost = { ...COST, date };
    const other = { ...cost, currency: "EUR" };
    const answer = await send([cost, other, { ...cost, amount: "7" }]);
    expect(answer).toMatchObject({ inserted: 1, updated: 0 });
    expect(answer.rejected.map(({ row, fields }) => [row, fields["row"]?.slice(0, 28)])).toEqual([
      [1, "is the same cost as row 3: s"],
      [3, "is the same cost as row 1: s"],
    ]);
    expect(await stored(`from=${date}&to=${date}`)).toMatchObject([
      [date, null, null, "EUR", "12.5000"],
    ]);
  });

  test("bad rows are refused by number with every wrong field, good ones are stored", async () => {
    const date = "2026-02-05";
    const bad = [
      [{ ...COST, date: "2026-02-30" }, ["date"]],
      [{ ...COST, date: "2100-01-01" }, ["date"]],
      [{ ...COST, date, hour: 24 }, ["hour"]],
      [{ ...COST, date, hour: 1.5 }, ["hour"]],
      [{ ...COST, date, amount: "-1" }, ["amount"]],
      [{ ...COST, date, amount: "1.00001" }, ["amount"]],
      [{ ...COST, date, amount: 1.5 }, ["amount"]],
      [{ ...COST, date, currency: "usd" }, ["currency"]],
      [{ ...COST, date, offer_id: 999_999 }, ["offer_id"]],
      [{ ...COST, date, affiliate_id: "NOBODY", amount: "x" }, ["affiliate_id", "amount"]],
      [{ ...COST, date, affiliate_id: foreign.affiliateId }, ["affiliate_id"]],
      [{ ...COST, date, traffic_source: "x".repeat(201) }, ["traffic_source"]],
      [{ ...COST, date, ext_campaign_id: "a\u0000b" }, ["ext_campaign_id"]],
      [{ ...COST, date, campaign: "c" }, ["campaign"]],
      [{}, ["amount", "currency", "date"]],
      ["text", ["row"]],
      [null, ["row"]],
      [[], ["row"]],
    ] as const;
    const rows = [...bad.map(([row]) => row), { ...COST, date }];
    const { inserted, rejected } = await send(rows);
    expect(rejected.map(({ row, fields }) => [row, Object.keys(fields).toSorted()])).toEqual(
      bad.map(([, fields], index) => [index + 1, fields]),
    );
    expect(inserted).toBe(1);
    expect(await stored(`from=${date}&to=${date}`)).toHaveLength(1);
  });

  test("with a hundred wrong costs none is stored, and a hundred faults are named (G213)", async () => {
    const date = "2026-02-09";
    const right = { ...COST, date };
    const wrong = (count: number, cost: object) => Array.from({ length: count }, () => cost);
    for (const cost of [
      { ...right, amount: "x" },
      { ...right, offer_id: "NOBODY" },
    ]) {
      const answer = await world.post("/ad-costs", { rows: [right, ...wrong(150, cost), right] });
      expect(refusal(answer)).toBe("400 validation_failed");
      const names = Object.keys(details(answer).fields);
      expect(names).toHaveLength(101);
      expect(names.slice(0, 2)).toEqual(["rows", `rows[1].${Object.keys(cost).at(-1) ?? ""}`]);
    }
    expect(await stored(`from=${date}&to=${date}`)).toEqual([]);
    const { inserted, rejected } = await send([right, ...wrong(99, { ...right, amount: "x" })]);
    expect([inserted, rejected.length]).toEqual([1, 99]);
  });

  test("texts of the maximum length fit into the key", async () => {
    const text = Array.from({ length: 50 }, (_, index) =>
      String.fromCodePoint(0x1_f300 + index, 0x1_f400 + index),
    ).join("");
    const cost = { ...COST, date: "2026-02-06", traffic_source: text, ext_campaign_id: text };
    expect(await send([{ ...cost, ext_adgroup_id: text }])).toMatchObject({ inserted: 1 });
  });

  test.each([
    ["rows", {}],
    ["rows", { rows: [] }],
    ["rows", { rows: "x" }],
    ["rows", { rows: Array.from({ length: 10_001 }, () => ({})) }],
    ["amount", { rows: [COST], amount: "1" }],
  ])("a body without a list of 1 to 10,000 rows is refused: %s", async (field, body) => {
    const answer = await world.post("/ad-costs", body);
    expect([refusal(answer), Object.keys(details(answer).fields ?? {})]).toEqual([
      "400 validation_failed",
      [field],
    ]);
  });

  test("concurrent calls with the same costs in any order leave one row per cost", async () => {
    const rows = Array.from({ length: 200 }, (_, index) => ({
      ...COST,
      date: "2026-02-07",
      ext_campaign_id: String(index),
    }));
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        send(
          (index % 2 === 0 ? rows : rows.toReversed()).map((row) => ({
            ...row,
            amount: String(index),
          })),
        ),
      ),
    );
    expect(answers.reduce((sum, { inserted }) => sum + inserted, 0)).toBe(200);
    expect(answers.reduce((sum, { updated }) => sum + updated, 0)).toBe(1_400);
    const amounts = new Set((await stored("from=2026-02-07&to=2026-02-07")).map((row) => row[4]));
    expect(amounts.size).toBe(1);
  });
});

describe("text/csv", () => {
  test("a file that a spreadsheet has saved is read: sep=, capitals, commas at the end (G254)", async () => {
    const text = "\uFEFFsep=;\r\nDate;Currency;Amount;;\r\n2026-02-17;USD;3;;\r\n";
    expect((await sendCsv(text)).status).toBe(201);
    expect(await stored("from=2026-02-17&to=2026-02-17")).toEqual([
      ["2026-02-17", null, null, "USD", "3.0000"],
    ]);
    const answer = await sendCsv("date;currency;amount\n2026-02-17;USD;4\n");
    expect(refusal(answer)).toBe("400 invalid_request");
    expect(answer.text).toContain("begin with the line sep=;");
  });

  test("columns in any order, quotes, empty cells and a byte order mark are read (G75)", async () => {
    const text =
      "\uFEFFamount,currency,date,hour,offer_id,traffic_source\r\n" +
      '1.5,EUR,2026-03-01,5,SHOES,"a, ""b"""\r\n\r\n' +
      `2,EUR,2026-03-01,,${offer.id}\r\n`;
    const answer = await sendCsv(text, "text/csv; charset=utf-8");
    expect(answer.body).toEqual({ data: { inserted: 2, updated: 0, rejected: [] } });
    const rows = list(await world.get("/ad-costs?from=2026-03-01&to=2026-03-01"));
    expect(rows.map(({ hour, amount, traffic_source }) => [hour, amount, traffic_source])).toEqual([
      [null, "2.0000", ""],
      [5, "1.5000", 'a, "b"'],
    ]);
  });

  test("bad lines are refused by number from 1 below the header, good ones are stored", async () => {
    const answer = await sendCsv(
      "date,hour,currency,amount\n2026-03-02,,USD,1\n2026-03-02,x,USD,\n2026-03-02,1,USD,2,extra\n2026-03-02,1,USD,3\n",
    );
    expect(answer.body).toMatchObject({
      data: {
        inserted: 2,
        rejected: [
          { row: 2, fields: { amount: "required" } },
          { row: 3, fields: { "column 5": "unknown field" } },
        ],
      },
    });
  });

  test.each([
    ["400 invalid_request", ""],
    ["400 invalid_request", 'date,currency,amount\n"2026-03-03,USD,1'],
    ["400 validation_failed", "date,currency,amount,campaign\n2026-03-03,USD,1,c"],
    ["400 validation_failed", "date,currency,amount,amount\n2026-03-03,USD,1,1"],
    ["400 invalid_request", "date;currency;amount\n2026-03-03;USD;1"],
    ["400 validation_failed", "date,currency,amount\n"],
  ])("%s for other texts", async (expected, text) => {
    expect(refusal(await sendCsv(text))).toBe(expected);
    expect(await stored("from=2026-03-03&to=2026-03-03")).toEqual([]);
  });

  test("another content type, or CSV for a JSON operation, is 415 (ERR-010)", async () => {
    expect(refusal(await sendCsv("date", "text/plain"))).toBe("415 unsupported_media_type");
    const answer = await world.call("POST", "/fx-rates", {
      raw: "date,currency,rate\n",
      headers: { "content-type": "text/csv" },
    });
    expect(refusal(answer)).toBe("415 unsupported_media_type");
  });
});

describe("GET /ad-costs", () => {
  test("the list is paged, newest day first, with all its filters", async () => {
    const days = ["2026-04-03", "2026-04-01", "2026-04-02"];
    await send(
      days.flatMap((date) => [
        { ...COST, date },
        { ...COST, date, currency: "GBP" },
      ]),
    );
    const all = await stored("from=2026-04-01");
    expect(all.map(([date]) => date)).toEqual([...days, ...days].sort().reverse());
    const first = await world.get("/ad-costs?from=2026-04-01&limit=4");
    const second = await world.get(
      `/ad-costs?from=2026-04-01&limit=4&cursor=${String(nextCursor(first))}`,
    );
    expect([...list(first), ...list(second)]).toEqual(
      list(await world.get("/ad-costs?from=2026-04-01")),
    );
    expect(nextCursor(second)).toBeNull();
    expect(await stored("from=2026-04-02&to=2026-04-02")).toHaveLength(2);
    expect(await stored("from=2026-04-01&currency=GBP")).toHaveLength(3);
    expect(await stored(`affiliate_id=${foreign.affiliateId}`)).toEqual([]);
    expect(await stored("traffic_source=bing")).toHaveLength(1);
    expect(refusal(await world.get("/ad-costs?from=2026-02-30"))).toBe("400 invalid_parameter");
  });

  test("staff reads, admins write, others do neither, and workspaces are separate", async () => {
    const { keys } = world.tenant;
    expect((await world.get("/ad-costs", keys.analyst)).status).toBe(200);
    expect(refusal(await world.post("/ad-costs", { rows: [COST] }, keys.analyst))).toBe(
      "403 read_only_key",
    );
    for (const key of [keys.partner, keys.advertiser]) {
      expect(refusal(await world.get("/ad-costs", key))).toBe("403 forbidden");
      expect(refusal(await world.post("/ad-costs", { rows: [COST] }, key))).toBe("403 forbidden");
    }
    expect(list(await world.get("/ad-costs", foreign.keys.admin))).toEqual([]);
    expect(await send([{ ...COST, offer_id: offer.id }], foreign.keys.admin)).toMatchObject({
      inserted: 0,
      rejected: [{ row: 1, fields: { offer_id: "no such offer" } }],
    });
  });
});
