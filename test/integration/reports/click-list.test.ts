import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AT_MS, ClickWorld, ids, SUBS } from "./click-world.ts";
import { aClick } from "./facts.ts";
import { refusal } from "./small-world.ts";

const LIST_FIELDS = [
  ...[
    "click_id",
    "ts",
    "link_type",
    "status",
    "status_reason",
    "offer_id",
    "offer_label",
    "affiliate_id",
  ],
  ...[
    "affiliate_label",
    "smart_link_id",
    "is_unique",
    "is_bot",
    "is_datacenter",
    "country",
    "city",
  ],
  ...["device_type", "os", "browser", "traffic_source", ...SUBS, "source_id", "gclid"],
  ...["ext_campaign_id", "ext_keyword", "domain", "destination"],
];

let clicks: ClickWorld;

beforeAll(async () => {
  clicks = await ClickWorld.open();
});

afterAll(async () => {
  await clicks.world.close();
});

describe("the list", () => {
  test("CLK-001, CLK-002, ENV-028: newest first, today in the workspace's zone by default", async () => {
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

  test("CLK-007 to CLK-011, T36: a row has the fields of the contract", async () => {
    const { data } = await clicks.list({ limit: "1" });
    expect(Object.keys(data[0] ?? {}).toSorted()).toEqual(LIST_FIELDS.toSorted());
    expect(data[0]).toMatchObject({
      ...{
        ts: "2025-02-03T10:03:00.000Z",
        link_type: "affiliate",
        status: "redirect",
        status_reason: "",
      },
      ...{
        offer_label: "Offer 1",
        affiliate_label: "Affiliate 1",
        smart_link_id: 0,
        is_unique: true,
      },
      ...{
        sub1: "s1",
        sub10: "",
        domain: "go.example",
        destination: "https://shop.example/",
        is_bot: false,
      },
    });
  });

  test("CLK-006, LIM-007, LIM-010: pages hold every click once, whatever comes meanwhile", async () => {
    const seen: unknown[] = [];
    let cursor: string | null = null;
    for (let page = 0; page < 10; page += 1) {
      const answer: Awaited<ReturnType<ClickWorld["list"]>> = await clicks.list({
        limit: "2",
        ...(cursor === null ? {} : { cursor }),
      });
      seen.push(...ids(answer.data));
      cursor = answer.next_cursor;
      if (page === 0)
        await clicks.world.insert({
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

  test("G33, LIM-008: a cursor is good for its filters and its key only", async () => {
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

  test("CLK-003, CLK-004, T40, T76: ranges to 93 days and limits to 1000", async () => {
    expect(await refusal(clicks.list({ from: "2025-01-01", to: "2025-04-03" }))).toBe("accepted");
    expect(await refusal(clicks.list({ from: "2025-01-01", to: "2025-04-04" }))).toEqual([
      "invalid_parameter",
      "from",
    ]);
    expect(await refusal(clicks.list({ limit: "1000" }))).toBe("accepted");
    expect(await refusal(clicks.list({ limit: "1001" }))).toEqual(["invalid_parameter", "limit"]);
    expect(await refusal(clicks.list({ limit: "0" }))).toEqual(["invalid_parameter", "limit"]);
  });

  test("CLK-005, G81: filters", async () => {
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

  test("VIS-038 to VIS-040: a partner lists own clicks, without destination and signs of fraud", async () => {
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

  test("VIS-042 to VIS-046, VIS-059: an advertiser lists clicks of own offers, without the partner's side", async () => {
    const { data } = await clicks.list({}, "advertiser");
    expect(ids(data)).not.toContain(clicks.foreign.click_id);
    const hidden = [
      ...SUBS,
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

describe("look-up by an ad-platform id", () => {
  const from = "2025-02-01";

  test("CLK-012, CLK-014, CLK-015, CLK-029, T41: the rows, their ids, no cursor", async () => {
    const answer = await clicks.list({ gclid: "g3", from });
    expect(ids(answer.data)).toEqual([clicks.own[0].click_id, clicks.foreign.click_id]);
    expect(answer).toMatchObject({
      next_cursor: null,
      click_ids: [clicks.own[0].click_id, clicks.foreign.click_id],
    });
    expect(Object.keys(answer.data[0] ?? {})).toEqual([
      ...["click_id", "ts", "offer_id", "affiliate_id", "gclid", "gbraid", "wbraid"],
      ...["traffic_source", "link_type", "domain"],
    ]);
    expect((await clicks.list({ gclid: "g3", from }, "partner")).data).toHaveLength(1);
    expect((await clicks.list({ gclid: "g3", from }, "advertiser")).data).toHaveLength(1);
  });

  test("CLK-013, CLK-020, CLK-021: each kind, a truncated answer, none at all", async () => {
    for (const kind of ["gbraid", "wbraid"]) {
      const none = await clicks.list({ [kind]: "unknown", from });
      expect(none).toMatchObject({ data: [], click_ids: [], next_cursor: null });
    }
    expect(await clicks.list({ gclid: "g3", from, limit: "1" })).toMatchObject({
      data: [{ click_id: clicks.own[0].click_id }],
      next_cursor: null,
    });
  });

  test("CLK-016 to CLK-020: what is refused", async () => {
    expect(await refusal(clicks.list({ gclid: "g3" }))).toEqual(["invalid_parameter", "from"]);
    expect(await refusal(clicks.list({ gclid: "g3", from: "2024-11-06", to: "2025-02-03" }))).toBe(
      "accepted",
    );
    expect(
      await refusal(clicks.list({ gclid: "g3", from: "2024-11-05", to: "2025-02-03" })),
    ).toEqual(["invalid_parameter", "from"]);
    for (const gclid of ["", "a b", "a<b", "x".repeat(513)]) {
      expect(await refusal(clicks.list({ gclid, from })), gclid).toEqual([
        "invalid_parameter",
        "gclid",
      ]);
    }
    expect(await refusal(clicks.list({ gclid: "x".repeat(512), from }))).toBe("accepted");
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
