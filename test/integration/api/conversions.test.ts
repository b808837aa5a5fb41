import { describe, expect, test } from "vitest";
import { words } from "../../samples/words.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { ApiWorld, details, type Json, list, nextCursor, record, refusal } from "./api-world.ts";

const world = await forThisFile(ApiWorld.open());
const offer = await world.offer({
  name: "Sold",
  events: [
    { code: "sale", payout_type: "cps", payout: "10", revenue_type: "rps", revenue: "15" },
    { code: "hidden", is_private: true },
  ],
});
await world.startProcessor();

const UNKNOWN = "00000000-0000-4000-8000-000000000000";

async function convert(fields: Json = {}) {
  return await world.post("/conversions", {
    offer_id: offer.id,
    affiliate_id: world.tenant.affiliateId,
    ...fields,
  });
}

describe("recording", () => {
  test("offer and partner are enough: default event, approved (CNV-009, CNV-010, CNV-014, CNV-016, CNV-022)", async () => {
    const answer = await convert();
    expect(answer.status).toBe(201);
    const made = record(answer);
    expect(made).toMatchObject({
      offer_id: offer.id,
      offer_name: "Sold",
      affiliate_id: world.tenant.affiliateId,
      affiliate_code: world.tenant.affiliateCode,
      affiliate_name: "Partner",
      advertiser_id: world.tenant.advertiserId,
      smart_link_id: null,
      click_id: "",
      event_code: "default",
      status: "approved",
      status_reason: "",
      method: "api",
      payout: "10.0000",
      revenue: "15.0000",
      sale_amount: "0.0000",
      currency: "USD",
      click_ts: null,
      params: {},
    });
    expect(record(await world.get(`/conversions/${made.id}`))).toEqual(made);
    expect(record(await world.get(`/conversions/${String(made.id).toUpperCase()}`))).toEqual(made);
  });

  test("a name in place of an order number or a sub ID counts as none (G216)", async () => {
    const named = { adv_txid: "{order_id}", sub1: "{{sub1}}", sub2: "b", params: { adv1: "null" } };
    for (const answer of [await convert(named), await convert(named)]) {
      expect(answer.status).toBe(201);
      expect(record(answer)).toMatchObject({ adv_txid: "", sub1: "", sub2: "b", params: {} });
    }
  });

  test("numbers in free fields keep their digits, so two orders stay two (CNV-023, G218)", async () => {
    for (const number of ["7300000000000000001", "7300000000000000002", "10.50", "7"]) {
      const body = `{"offer_id":${offer.id},"affiliate_id":${world.tenant.affiliateId},"adv_txid":${number},"params":{"adv1":${number}}}`;
      const answer = await world.call("POST", "/conversions", {
        raw: body,
        headers: { "content-type": "application/json" },
      });
      expect([number, answer.status]).toEqual([number, 201]);
      expect(record(answer)).toMatchObject({ adv_txid: number, params: { adv1: number } });
    }
    expect((await convert({ notes: 7 })).status).toBe(400);
  });

  test("shares of the sale, given amounts, texts and values are stored (CNV-015, CNV-017, CNV-019, G89)", async () => {
    const shared = record(await convert({ event: "sale", sale_amount: "200" }));
    expect(shared).toMatchObject({
      event_code: "sale",
      payout: "20.0000",
      revenue: "30.0000",
      sale_amount: "200.0000",
    });
    const convTs = new Date(Date.now() - 3_600_000).toISOString();
    const given = record(
      await convert({
        offer_id: String(offer["code"]),
        affiliate_id: world.tenant.affiliateCode,
        payout: "1.5",
        revenue: "2.5",
        adv_txid: "order-given",
        notes: "by hand",
        status: "pending",
        conv_ts: convTs,
        params: { adv1: "x" },
        sub1: "s",
        source_id: "src",
      }),
    );
    expect(given).toMatchObject({
      payout: "1.5000",
      revenue: "2.5000",
      adv_txid: "order-given",
      notes: "by hand",
      status: "pending",
      conv_ts: convTs,
      params: { adv1: "x" },
      sub1: "s",
      source_id: "src",
    });
  });

  test("an order counts once per offer (CNV-023, CNV-024, T04, T05)", async () => {
    const other = await world.offer();
    expect((await convert({ adv_txid: "order-1" })).status).toBe(201);
    const again = await convert({ adv_txid: "order-1" });
    expect(`${refusal(again)} ${details(again).field}`).toBe("409 conflict adv_txid");
    expect((await convert({ offer_id: other.id, adv_txid: "order-1" })).status).toBe(201);
    expect(list(await world.get("/conversions?adv_txid=order-1"))).toHaveLength(2);
  });

  test("all wrong fields are reported together (CNV-020, CNV-021, CNV-022, G89)", async () => {
    expect(details(await world.post("/conversions", {})).fields).toEqual({
      offer_id: "required",
      affiliate_id: "required",
    });
    const answer = await convert({
      affiliate_id: 999_999,
      event: "zz",
      payout: 5,
      status: "done",
      conv_ts: new Date(Date.now() + 60_000).toISOString(),
      adv_txid: "",
      click_id: "short",
      params: { adv6: "x" },
      foo: 1,
    });
    expect(Object.keys(details(answer).fields).sort()).toEqual(
      words("adv_txid affiliate_id click_id conv_ts event foo params.adv6 payout status"),
    );
    expect(details(await convert({ offer_id: 999_999 })).fields).toHaveProperty("offer_id");
  });

  test("without a conversion processor nothing is recorded: 503 (ERR-012)", async () => {
    const origin = await world.startAnother({ nats: () => undefined });
    const body = { offer_id: offer.id, affiliate_id: world.tenant.affiliateId, adv_txid: "never" };
    const answer = await world.callAt(origin, "POST", "/conversions", { body });
    expect(refusal(answer)).toBe("503 unavailable");
    expect(answer.headers.get("retry-after")).toBe("30");
    expect(list(await world.get("/conversions?adv_txid=never"))).toEqual([]);
  });
});

describe("statuses", () => {
  test("an admin sets any status (CNV-026, CNV-027, CNV-028, CNV-029, CNV-032, CNV-038, G93)", async () => {
    const { id } = record(await convert());
    const rejected = record(
      await world.patch(`/conversions/${id}`, { status: "rejected", reason: "fake" }),
    );
    expect(rejected).toMatchObject({ status: "rejected", status_reason: "fake" });
    expect(record(await world.get(`/conversions/${id}`))).toEqual(rejected);
    const pending = record(
      await world.patch(`/conversions/${id}`, { status: "pending", notes: "look again" }),
    );
    expect(pending).toMatchObject({
      status: "pending",
      status_reason: "manual",
      notes: "look again",
    });
    expect(
      record(await world.patch(`/conversions/${id}`, { status: "pending", reason: "" })),
    ).toEqual(pending);
    expect(
      details(await world.patch(`/conversions/${id}`, { status: "done" })).fields,
    ).toHaveProperty("status");
    expect(details(await world.patch(`/conversions/${id}`, { reason: "x" })).fields).toEqual({
      status: "required",
    });
    expect(refusal(await world.patch(`/conversions/${UNKNOWN}`, { status: "approved" }))).toBe(
      "404 not_found",
    );
    expect(refusal(await world.patch("/conversions/x", { status: "approved" }))).toBe(
      "404 not_found",
    );
  });

  test("a duplicate can only be rejected (CNV-030, CNV-031, G92, T06)", async () => {
    const { id } = record(await convert());
    await world.pool.query({
      text: `update conversion set is_duplicate = true, status = 'rejected', status_reason = 'duplicate', holds_click = false
             where id = $1`,
      values: [id],
    });
    const refused = await world.patch(`/conversions/${id}`, { status: "approved" });
    expect(`${refusal(refused)} ${details(refused).field}`).toBe("409 conflict status");
    expect(record(await world.get(`/conversions/${id}`))).toMatchObject({ status: "rejected" });
    expect((await world.patch(`/conversions/${id}`, { status: "rejected" })).status).toBe(200);
    const bulk = await world.patch("/conversions", { ids: [id], status: "approved" });
    expect(bulk.body["data"]).toEqual({ updated: [], not_found: [], skipped_duplicates: 1 });
  });

  test("many are changed in order, each once, and unknown ones named (CNV-033, CNV-034, G94)", async () => {
    const [a, b] = [String(record(await convert()).id), String(record(await convert()).id)];
    const stranger = "12345678-1234-0234-0234-123456789012";
    const answer = await world.patch("/conversions", {
      ids: [b, UNKNOWN, a, b.toUpperCase(), stranger],
      status: "pending",
      reason: "check",
    });
    expect(answer.body["data"]).toEqual({
      updated: [
        { id: b, status: "pending", status_reason: "check" },
        { id: a, status: "pending", status_reason: "check" },
      ],
      not_found: [UNKNOWN, stranger],
      skipped_duplicates: 0,
    });
  });

  test("1 to 500 ids are accepted, other lists refused (CNV-035, CNV-036)", async () => {
    const ids = (count: number) =>
      Array.from(
        { length: count },
        (_, index) => `00000000-0000-4000-8000-${String(index).padStart(12, "0")}`,
      );
    const sent = await world.patch("/conversions", { ids: ids(500), status: "approved" });
    expect(sent.status).toBe(200);
    for (const wrong of [ids(501), [], ["x"], "x", undefined]) {
      const answer = await world.patch("/conversions", { ids: wrong, status: "approved" });
      expect(refusal(answer)).toBe("400 validation_failed");
      expect(Object.keys(details(answer).fields)[0]).toMatch(/^ids/);
    }
  });
});

describe("reading", () => {
  test("an unknown or foreign id is 404 for every role; data has the record only (CNV-008)", async () => {
    const made = record(await convert());
    expect(Object.keys((await world.get(`/conversions/${made.id}`)).body)).toEqual(["data"]);
    const foreign = await world.addTenant("conversions-elsewhere");
    for (const key of Object.values(world.tenant.keys)) {
      expect(record(await world.get(`/conversions/${made.id}`, key)).id).toBe(made.id);
      for (const id of [UNKNOWN, crypto.randomUUID(), "x", "1"])
        expect(refusal(await world.get(`/conversions/${id}`, key))).toBe("404 not_found");
    }
    for (const key of Object.values(foreign.keys))
      expect(refusal(await world.get(`/conversions/${made.id}`, key))).toBe("404 not_found");
  });

  test("newest first, in the range, page by page (CNV-001, CNV-002, CNV-003, ENV-004, ENV-028, T76)", async () => {
    const place = await world.offer({ name: "Paged" });
    const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();
    for (const days of [8, 1, 3, 2]) {
      expect((await convert({ offer_id: place.id, conv_ts: daysAgo(days) })).status).toBe(201);
    }
    const path = `/conversions?offer_id=${place.id}`;
    const times = (answer: Parameters<typeof list>[0]) =>
      list(answer).map((row) => String(row["conv_ts"]));
    const week = await world.get(path);
    expect(times(week)).toHaveLength(3);
    expect(times(week)).toEqual([...times(week)].sort().reverse());
    const whole = await world.get(`${path}&preset=last30`);
    expect(times(whole)).toHaveLength(4);
    const pages: string[] = [];
    let cursor: string | null = "";
    for (let page = 0; page < 5 && cursor !== null; page += 1) {
      const answer = await world.get(
        `${path}&preset=last30&limit=1${page === 0 ? "" : `&cursor=${cursor}`}`,
      );
      expect(answer.body["range"]).toEqual(whole.body["range"]);
      pages.push(...times(answer));
      cursor = nextCursor(answer);
    }
    expect(pages).toEqual(times(whole));
    expect((await world.get("/conversions?from=2024-01-01&to=2025-02-03")).status).toBe(200);
    expect(refusal(await world.get("/conversions?from=2024-01-01&to=2025-02-04"))).toBe(
      "400 invalid_parameter",
    );
    expect(
      (await world.get("/conversions?from=2025-03-01&to=2025-03-02&tz=Europe/Berlin")).body[
        "range"
      ],
    ).toEqual({
      from: "2025-02-28T23:00:00.000Z",
      to: "2025-03-02T22:59:59.999Z",
      tz: "Europe/Berlin",
    });
  });

  test("a page has 100 rows by default, at most 500 (CNV-004)", async () => {
    const place = await world.offer({ name: "Many" });
    for (let made = 0; made < 101; made += 1) {
      expect((await convert({ offer_id: place.id })).status).toBe(201);
    }
    const path = `/conversions?offer_id=${place.id}`;
    const page = await world.get(path);
    expect(list(page)).toHaveLength(100);
    const rest = await world.get(`${path}&cursor=${nextCursor(page) ?? ""}`);
    expect([list(rest).length, nextCursor(rest)]).toEqual([1, null]);
    expect(list(await world.get(`${path}&limit=500`))).toHaveLength(101);
  });

  test.each([
    ["status=done", "status"],
    ["click_id=short", "click_id"],
    ["limit=501", "limit"],
    ["limit=0", "limit"],
    ["preset=foo", "preset"],
    ["from=notadate", "from"],
    ["tz=Mars/Base", "tz"],
    ["method=fax", "method"],
    ["offer_id=x", "offer_id"],
  ])(
    "%s is refused with the parameter's name (CNV-004, CNV-005, CNV-007, ENV-029, ENV-031)",
    async (query, param) => {
      const answer = await world.get(`/conversions?${query}`);
      expect([refusal(answer), details(answer).param]).toEqual(["400 invalid_parameter", param]);
    },
  );

  test("filters by status, event and method (CNV-005, CNV-006, G81)", async () => {
    const place = await world.offer({ events: [{ code: "lead", payout: "1" }] });
    for (const fields of [{ event: "lead" }, { status: "pending" }, {}]) {
      expect((await convert({ offer_id: place.id, ...fields })).status).toBe(201);
    }
    const count = async (query: string) =>
      list(await world.get(`/conversions?offer_id=${place.id}&${query}`)).length;
    expect(await count("limit=500")).toBe(3);
    expect(await count("event=lead")).toBe(1);
    expect(await count("status=pending")).toBe(1);
    expect(await count("method=api&status=approved")).toBe(2);
    expect(await count("method=s2s")).toBe(0);
    expect(await count(`click_id=${"0".repeat(32)}`)).toBe(0);
    expect(await count(`affiliate_id=${world.tenant.affiliateId}`)).toBe(3);
    expect(await count("affiliate_id=999999")).toBe(0);
  });

  describe("(VIS-023, VIS-024, VIS-025, VIS-026, VIS-027, VIS-028, VIS-029, VIS-030) (VIS-031)", () => {
    describe("(VIS-032, VIS-033, VIS-034, VIS-035, VIS-036, VIS-037, CNV-039) (G81)", () => {
      test("partners and advertisers see their own without hidden fields", async () => {
        const { partner, advertiser, analyst } = world.tenant.keys;
        const open = record(
          await convert({
            sub1: "s",
            source_id: "x",
            notes: "n",
            adv_txid: "vis",
            params: { adv1: "a" },
          }),
        );
        const hidden = record(await convert({ event: "hidden" }));
        const seen = async (key: string) =>
          Object.keys(record(await world.get(`/conversions/${open.id}`, key)));
        const all = Object.keys(open);
        const without = (...fields: string[]) => all.filter((field) => !fields.includes(field));
        expect(await seen(analyst)).toEqual(all);
        expect(await seen(partner)).toEqual(
          without("revenue", "advertiser_id", "adv_txid", "params", "notes", "conv_ip"),
        );
        expect(await seen(advertiser)).toEqual(
          without(
            "payout",
            "affiliate_code",
            "affiliate_name",
            "sub1",
            "sub2",
            "sub3",
            "sub4",
            "sub5",
            "source_id",
            "smart_link_id",
            "conv_ip",
            "notes",
          ),
        );
        expect(refusal(await world.get(`/conversions/${hidden.id}`, partner))).toBe(
          "404 not_found",
        );
        expect((await world.get(`/conversions/${hidden.id}`, advertiser)).status).toBe(200);
        const ids = async (key: string) =>
          list(await world.get("/conversions?limit=500", key)).map(({ id }) => id);
        expect(await ids(partner)).toContain(open.id);
        expect(await ids(partner)).not.toContain(hidden.id);
        expect(await ids(advertiser)).toContain(hidden.id);
        for (const [param, key] of [
          ["adv_txid", partner],
          ["affiliate_id", partner],
          ["affiliate_id", advertiser],
          ["smart_link_id", advertiser],
        ] as const) {
          expect(details(await world.get(`/conversions?${param}=1`, key)).param).toBe(param);
        }
        expect((await world.get("/conversions?adv_txid=vis", advertiser)).status).toBe(200);
      });
    });
  });
});
