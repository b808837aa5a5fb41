import { describe, expect, test } from "vitest";
import { SUB_IDS } from "../../../schemas/events/sub-ids.ts";
import { words } from "../../samples/words.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { AT_MS, ClickListWorld, ids } from "./click-list-world.ts";
import { aClick } from "./facts.ts";
import { refusal } from "./small-world.ts";

const LIST_FIELDS = [
  ...words(`
    click_id ts link_type status status_reason offer_id offer_label affiliate_id affiliate_label
    smart_link_id is_unique is_bot is_datacenter country city device_type os browser
    traffic_source
  `),
  ...SUB_IDS,
  ...words("source_id gclid ext_campaign_id ext_keyword domain destination"),
];

/** A day on which there are more clicks than a page has by default. */
const DAY_OF_MANY = { from: "2025-01-15", to: "2025-01-15" };
const MANY = 101;

const clicks = await forThisFile(ClickListWorld.open());
const ts = Date.parse("2025-01-15T12:00:00Z");
const many = Array.from({ length: MANY }, () => aClick(clicks.world, { ts, gclid: "many" }));
await clicks.world.store({ clicks: many });

describe("the list", () => {
  test("newest first, today in the workspace's zone by default (CLK-001, CLK-002, ENV-028)", async () => {
    const answer = await clicks.list();
    expect(ids(answer.data)).toEqual(
      [...clicks.own, clicks.foreign].map((click) => click.click_id),
    );
    expect(answer).toMatchObject({
      next_cursor: null,
      range: {
        from: "2025-02-02T23:00:00.000Z",
        to: "2025-02-03T22:59:59.999Z",
        tz: "Europe/Berlin",
      },
    });
  });

  test("a row has the contract's fields, with names as labels (CLK-007, CLK-008, CLK-010, CLK-011, T36)", async () => {
    const { data } = await clicks.list({ limit: "1" });
    expect(Object.keys(data[0] ?? {}).toSorted()).toEqual(LIST_FIELDS.toSorted());
    expect(data[0]).toMatchObject({
      ts: "2025-02-03T10:03:00.000Z",
      link_type: "affiliate",
      status: "redirect",
      status_reason: "",
      offer_label: "Offer 1",
      affiliate_label: "Affiliate 1",
      smart_link_id: 0,
      is_unique: true,
      sub1: "s1",
      sub10: "",
      domain: "go.example",
      destination: "https://shop.example/",
      is_bot: false,
    });
  });

  test("pages have every click once, also while clicks arrive (CLK-006, LIM-007, LIM-010)", async () => {
    const seen: unknown[] = [];
    let cursor: string | null = null;
    for (let page = 0; page < 10; page += 1) {
      const answer: Awaited<ReturnType<ClickListWorld["list"]>> = await clicks.list({
        limit: "2",
        ...(cursor === null ? {} : { cursor }),
      });
      seen.push(...ids(answer.data));
      cursor = answer.next_cursor;
      if (page === 0)
        await clicks.world.store({
          clicks: [
            aClick(clicks.world, {
              ts: AT_MS + 3_600_000,
              workspace_id: clicks.world.seed.workspaceId,
              country: "ZZ",
            }),
          ],
        });
      if (cursor === null) break;
    }
    expect(seen).toEqual([...clicks.own, clicks.foreign].map((click) => click.click_id));
  });

  test("a cursor is valid for its filters and its key only (G33, LIM-008)", async () => {
    const { next_cursor } = await clicks.list({ limit: "1" });
    const cursor = next_cursor ?? "";
    expect(await refusal(clicks.list({ limit: "1", cursor, status: "redirect" }))).toEqual([
      "invalid_cursor",
      "cursor",
    ]);
    expect(await refusal(clicks.list({ limit: "1", cursor }, "partner"))).toEqual([
      "invalid_cursor",
      "cursor",
    ]);
    expect(await refusal(clicks.list({ limit: "3", cursor }))).toBe("accepted");
  });

  test("ranges to 93 days and limits to 1000, 100 by default (CLK-003, CLK-004, T40, T76)", async () => {
    expect(await refusal(clicks.list({ from: "2025-01-01", to: "2025-04-03" }))).toBe("accepted");
    expect(await refusal(clicks.list({ from: "2025-01-01", to: "2025-04-04" }))).toEqual([
      "invalid_parameter",
      "from",
    ]);
    expect(await refusal(clicks.list({ limit: "1000" }))).toBe("accepted");
    expect(await refusal(clicks.list({ limit: "1001" }))).toEqual(["invalid_parameter", "limit"]);
    for (const limit of ["0", "-1", "1.5", "x", ""])
      expect(await refusal(clicks.list({ limit })), limit).toEqual(["invalid_parameter", "limit"]);
    const { data, next_cursor } = await clicks.list(DAY_OF_MANY);
    expect([data.length, typeof next_cursor]).toEqual([100, "string"]);
  });

  test("filters select, and invalid values are refused (CLK-005, G81)", async () => {
    const [offer1, offer2] = clicks.world.seed.offerIds;
    const count = async (query: Record<string, string>): Promise<number> =>
      (await clicks.list({ ...query, country: query["country"] ?? "US" })).data.length;
    expect(await count({ offer_id: String(offer1) })).toBe(4);
    expect(await count({ offer_id: String(offer2) })).toBe(1);
    expect(await count({ affiliate_id: String(clicks.world.seed.affiliateIds[1]) })).toBe(1);
    expect(await count({ status: "blocked", status_reason: "scheme" })).toBe(1);
    expect(await count({ sub1: "s1" })).toBe(4);
    expect(await count({ is_bot: "true" })).toBe(0);
    expect(await count({ link_type: "smart" })).toBe(0);
    expect(await count({ click_id: clicks.own[0].click_id.toUpperCase() })).toBe(1);
    expect(await count({ country: "de" })).toBe(0);
    expect(await refusal(clicks.list({ offer_id: "abc" }))).toEqual([
      "invalid_parameter",
      "offer_id",
    ]);
    expect(await refusal(clicks.list({ click_id: "abc" }))).toEqual([
      "invalid_parameter",
      "click_id",
    ]);
    expect(await refusal(clicks.list({ status: "foo" }))).toEqual(["invalid_parameter", "status"]);
  });

  test("a partner lists own clicks, without destination and signs of fraud (VIS-038, VIS-039, VIS-040)", async () => {
    const { data } = await clicks.list({}, "partner");
    expect(data.length).toBeGreaterThanOrEqual(4);
    expect(ids(data)).not.toContain(clicks.foreign.click_id);
    for (const name of ["destination", "is_bot", "is_datacenter"])
      expect(data[0]).not.toHaveProperty(name);
    expect(await refusal(clicks.list({ is_bot: "true" }, "partner"))).toEqual([
      "invalid_parameter",
      "is_bot",
    ]);
  });

  test("an advertiser lists own clicks (VIS-042, VIS-043, VIS-044, VIS-045, VIS-046, VIS-059)", async () => {
    const { data } = await clicks.list({}, "advertiser");
    expect(ids(data)).not.toContain(clicks.foreign.click_id);
    const hidden = [
      ...SUB_IDS,
      "source_id",
      "smart_link_id",
      "affiliate_label",
      "is_bot",
      "is_datacenter",
    ];
    for (const name of hidden) expect(data[0]).not.toHaveProperty(name);
    expect(data[0]).toHaveProperty("affiliate_id");
    expect(await refusal(clicks.list({ sub1: "s1" }, "advertiser"))).toEqual([
      "invalid_parameter",
      "sub1",
    ]);
  });
});

describe("lookup by an ad ID", () => {
  const from = "2025-02-01";

  test("returns rows and their ids, without a cursor (CLK-012, CLK-014, CLK-015, CLK-029, T41)", async () => {
    const answer = await clicks.list({ gclid: "g3", from });
    expect(ids(answer.data)).toEqual([clicks.own[0].click_id, clicks.foreign.click_id]);
    expect(answer).toMatchObject({
      next_cursor: null,
      click_ids: [clicks.own[0].click_id, clicks.foreign.click_id],
    });
    expect(Object.keys(answer.data[0] ?? {})).toEqual(
      words(
        "click_id ts offer_id affiliate_id gclid gbraid wbraid traffic_source link_type domain",
      ),
    );
    expect((await clicks.list({ gclid: "g3", from }, "partner")).data).toHaveLength(1);
    expect((await clicks.list({ gclid: "g3", from }, "advertiser")).data).toHaveLength(1);
  });

  test("each kind of id finds its own clicks, case-sensitively (CLK-013)", async () => {
    const ids_ = { gclid: "Kind-1", gbraid: "Kind-2", wbraid: "Kind-3" };
    const click = { ...aClick(clicks.world, { ts: AT_MS - 86_400_000 }), ...ids_ };
    await clicks.world.insertRows("click", [click]);
    for (const [kind, value] of Object.entries(ids_)) {
      const { data } = await clicks.list({ [kind]: value, from });
      expect(data, kind).toMatchObject([{ click_id: click.click_id, ...ids_ }]);
      expect((await clicks.list({ [kind]: value.toLowerCase(), from })).data, kind).toEqual([]);
    }
    expect((await clicks.list({ gclid: ids_.gbraid, from })).data).toEqual([]);
  });

  test("an unknown id is no error (CLK-021)", async () => {
    for (const kind of ["gclid", "gbraid", "wbraid"]) {
      const none = await clicks.list({ [kind]: "unknown", from });
      expect(none).toMatchObject({ data: [], click_ids: [], next_cursor: null });
    }
  });

  test("has 100 rows by default, 1000 at most, and no cursor for more (CLK-020)", async () => {
    for (const [limit, rows] of [
      ["1", 1],
      ["", 100],
      ["1000", MANY],
    ] as const) {
      const query = { gclid: "many", ...DAY_OF_MANY, ...(limit === "" ? {} : { limit }) };
      const answer = await clicks.list(query);
      expect([limit, answer.data.length, answer.next_cursor]).toEqual([limit, rows, null]);
    }
    const tooMany = clicks.list({ gclid: "many", ...DAY_OF_MANY, limit: "1001" });
    expect(await refusal(tooMany)).toEqual(["invalid_parameter", "limit"]);
  });

  test("wrong ids and ranges are refused (CLK-016, CLK-017, CLK-018, CLK-019, CLK-020, G88)", async () => {
    expect(await refusal(clicks.list({ gclid: "g3" }))).toEqual(["invalid_parameter", "from"]);
    expect(await refusal(clicks.list({ gclid: "g3", from: "2024-11-06", to: "2025-02-03" }))).toBe(
      "accepted",
    );
    expect(
      await refusal(clicks.list({ gclid: "g3", from: "2024-11-05", to: "2025-02-03" })),
    ).toEqual(["invalid_parameter", "from"]);
    for (const gclid of ["", "a b", "a<b", "a%20b", "a+b", "ä", "x".repeat(513)]) {
      expect(await refusal(clicks.list({ gclid, from })), gclid).toEqual([
        "invalid_parameter",
        "gclid",
      ]);
    }
    for (const gclid of ["x".repeat(512), "A-Za-z0-9._~-"])
      expect(await refusal(clicks.list({ gclid, from })), gclid).toBe("accepted");
    expect(await refusal(clicks.list({ gclid: "a", wbraid: "b", from }))).toEqual([
      "invalid_parameter",
      "wbraid",
    ]);
    expect(await refusal(clicks.list({ gclid: "a", from, cursor: "c" }))).toEqual([
      "invalid_parameter",
      "cursor",
    ]);
  });
});
