import { describe, expect, test } from "vitest";
import { words } from "../../samples/words.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { ApiWorld, details, record, refusal, someId, textWith } from "./api-world.ts";

const world = await forThisFile(ApiWorld.open());

const OFFER_FIELDS = [
  "id code name status visibility advertiser_id category description restrictions preview_url destination_url",
  "fallback_url allowed_domains currency revenue_type revenue payout_type payout caps targeting conversion_method",
  "unique_per_click attribution_days default_status thumbnail_url tags is_featured events created_at updated_at",
]
  .join(" ")
  .split(" ");

describe("creating", () => {
  test("defaults of an offer (OFF-005, OFF-016, OFF-017, ENV-033, ENV-034, ENV-035)", async () => {
    const answer = await world.post("/offers", {
      name: "Minimal",
      advertiser_id: world.tenant.advertiserId,
      destination_url: "https://shop.example/{sub1}?c={click_id}",
    });
    expect(answer.status).toBe(201);
    const offer = record(answer);
    expect(Object.keys(offer).sort()).toEqual([...OFFER_FIELDS].sort());
    expect(offer).toMatchObject({
      status: "active",
      visibility: "public",
      fallback_url: "",
      allowed_domains: [],
      currency: "USD",
      revenue_type: "rpa",
      revenue: "0.0000",
      payout_type: "cpa",
      payout: "0.0000",
      caps: {},
      targeting: {},
      conversion_method: "any",
      unique_per_click: true,
      attribution_days: 30,
      default_status: "approved",
      tags: [],
      is_featured: false,
      events: [{ code: "default", name: "Default", is_default: true, payout: "0.0000" }],
    });
    expect(offer["code"]).toMatch(/^[A-HJ-NP-Z][A-HJ-NP-Z2-9]{7}$/);
  });

  test("money is accepted with up to four decimals, returned with four (ENV-005, ENV-006, ENV-007, ENV-008)", async () => {
    expect(await world.offer({ payout: "10.5", revenue: "10.1234" })).toMatchObject({
      payout: "10.5000",
      revenue: "10.1234",
    });
    for (const payout of ["1.23456", "abc", "1e3", "-1", "", 10, null]) {
      const answer = await world.post("/offers", { name: "x", payout });
      expect(refusal(answer)).toBe("400 validation_failed");
      expect(details(answer).fields).toHaveProperty("payout");
    }
  });

  test("further events follow the default one (OFF-018, OFF-019, G42)", async () => {
    const offer = await world.offer({
      events: [
        {
          code: "sale",
          name: "Sale",
          payout_type: "cps",
          payout: "12.5",
          revenue_type: "rps",
          revenue: "20",
        },
        { code: "default", name: "Order", is_private: true, payout: "99" },
      ],
    });
    expect(offer["events"]).toMatchObject([
      { code: "default", name: "Order", is_private: true, payout: "10.0000", revenue: "15.0000" },
      {
        code: "sale",
        payout_type: "cps",
        payout: "12.5000",
        revenue_type: "rps",
        revenue: "20.0000",
        is_default: false,
      },
    ]);
  });

  test("caps and targeting are returned as sent (OFF-013, OFF-014, OFF-015)", async () => {
    const caps = { conversions: { daily: 5 }, payout: { total: "100.0000" }, alert_only: true };
    const targeting = {
      countries_allow: ["US", "DE"],
      devices_deny: ["tablet"],
      connection: "no_proxy",
      schedule: {
        tz: "Europe/Berlin",
        days: [1, 5],
        hours: [9],
        starts_at: "2025-01-01T00:00:00Z",
        ends_at: null,
      },
    };
    expect(await world.offer({ caps, targeting, attribution_days: 7 })).toMatchObject({
      caps,
      targeting,
      attribution_days: 7,
    });
  });

  test("all wrong fields are named, nested ones by path (OFF-022, OFF-023, OFF-024, ERR-002, G14, G15)", async () => {
    const answer = await world.post("/offers", {
      id: 7,
      foo: 1,
      advertiser_id: 999_999,
      payout_type: "cps",
      payout: "100.01",
      status: "deleted",
      visibility: "x",
      conversion_method: "fax",
      default_status: "rejected",
      allowed_domains: "x",
      attribution_days: 0,
      currency: "ZZZZ",
      caps: { conversions: { daily: -1, yearly: 1 } },
      targeting: { countries_allow: ["XX"], planets: [] },
      events: [{ code: "a", payout: "1.23456" }, { code: "a" }, { name: "no code" }],
    });
    expect(refusal(answer)).toBe("400 validation_failed");
    expect(Object.keys(details(answer).fields).sort()).toEqual(
      words(`
  id foo name destination_url advertiser_id payout status visibility conversion_method
  default_status allowed_domains attribution_days currency caps.conversions.daily
  caps.conversions.yearly targeting.countries_allow[0] targeting.planets events[0].payout
  events[1].code events[2].code
`).sort(),
    );
    expect(details(answer).fields).toMatchObject({
      foo: "unknown field",
      "caps.conversions.yearly": "unknown field",
      name: "required",
      "events[2].code": "required",
    });
  });

  test.each([
    { payout: "150", events: [{ code: "default", payout_type: "cps" }] },
    { payout_type: "cps", events: [{ code: "default", payout: "150" }] },
  ])(
    "terms are at most 100 percent, also with those of a posted default event (G45) %#",
    async (terms) => {
      const body = {
        name: "x",
        advertiser_id: world.tenant.advertiserId,
        destination_url: "https://shop.example/",
      };
      const answer = await world.post("/offers", { ...body, ...terms });
      expect(refusal(answer)).toBe("400 validation_failed");
      expect(Object.keys(details(answer).fields)).toEqual(["payout"]);
    },
  );

  test("a destination with its macros filled is an absolute http or https URL (G35, G53)", async () => {
    for (const url of [
      "shop.example",
      "ftp://shop.example",
      "/x",
      "https://",
      "https://a b.example",
      "javascript:1",
    ]) {
      const answer = await world.post("/offers", { destination_url: url });
      expect(details(answer).fields, url).toHaveProperty("destination_url");
    }
    for (const url of ["http://10.0.0.1/x", "https://{sub1}.shop.example/{click_id}?a=%7B"]) {
      expect((await world.offer({ destination_url: url }))["destination_url"]).toBe(url);
    }
  });

  test("a misspelled macro of a destination is refused with the nearest one; stored ones stay (G148)", async () => {
    const misspelled = "https://shop.example/?c={clickid}";
    const fault = textWith("{click_id}");
    const refused = { destination_url: misspelled, fallback_url: "https://f.example/{sub11}" };
    const answer = await world.post("/offers", { name: "x", ...refused });
    expect(refusal(answer)).toBe("400 validation_failed");
    expect(details(answer).fields).toMatchObject({
      destination_url: fault,
      fallback_url: textWith("{sub11}"),
    });
    const { id } = await world.offer();
    for (const url of [misspelled, "https://shop.example/?p={payout}"]) {
      const changed = await world.patch(`/offers/${id}`, { destination_url: url });
      expect(details(changed).fields).toHaveProperty("destination_url");
    }
    await world.pool.query({
      text: "update offer set destination_url = $2 where id = $1",
      values: [id, misspelled],
    });
    const kept = { destination_url: misspelled, name: "Renamed" };
    expect(record(await world.patch(`/offers/${id}`, kept))).toMatchObject(kept);
  });

  test("a code is unique in any case, and two calls without one make two offers (OFF-020, OFF-021, OFF-025)", async () => {
    await world.offer({ code: "Summer-1" });
    const again = await world.post("/offers", {
      name: "x",
      code: "SUMMER-1",
      advertiser_id: world.tenant.advertiserId,
      destination_url: "https://shop.example",
    });
    expect(refusal(again)).toBe("409 conflict");
    expect(details(again).field).toBe("code");
    const [one, other] = [await world.offer(), await world.offer()];
    expect(one.id).not.toBe(other.id);
    expect(one["code"]).not.toBe(other["code"]);
  });
});

describe("changing", () => {
  test("only what is sent changes, and an empty body changes nothing (OFF-026, OFF-029, G13)", async () => {
    const before = await world.offer({ description: "kept" });
    const after = record(
      await world.patch(`/offers/${before.id}`, { name: "New", status: "paused" }),
    );
    expect(after).toMatchObject({
      name: "New",
      status: "paused",
      description: "kept",
      events: before["events"],
    });
    expect(String(after["updated_at"]) > String(before["updated_at"])).toBe(true);
    expect(record(await world.patch(`/offers/${before.id}`, {}))).toEqual(after);
    expect(record(await world.patch(`/offers/${before.id}`, { name: "New" }))).toEqual(after);
    expect(record(await world.patch(`/offers/${before.id}`, { status: "active" }))["status"]).toBe(
      "active",
    );
  });

  test("code and events cannot be changed (OFF-027, OFF-028)", async () => {
    const { id } = await world.offer();
    const answer = await world.patch(`/offers/${id}`, { code: "x1", events: [] });
    expect(details(answer).fields).toEqual({ code: "unknown field", events: "unknown field" });
  });

  test("terms also change the default event, and no other (OFF-030, OFF-031, OFF-032, OFF-033, OFF-034)", async () => {
    const { id } = await world.offer({ events: [{ code: "lead", payout: "1", revenue: "2" }] });
    const after = record(
      await world.patch(`/offers/${id}`, {
        payout_type: "cps",
        payout: "7",
        revenue_type: "rps",
        revenue: "9",
      }),
    );
    expect(after["events"]).toMatchObject([
      {
        code: "default",
        payout_type: "cps",
        payout: "7.0000",
        revenue_type: "rps",
        revenue: "9.0000",
      },
      { code: "lead", payout_type: "cpa", payout: "1.0000", revenue: "2.0000" },
    ]);
    expect(details(await world.patch(`/offers/${id}`, { payout: "101" })).fields).toHaveProperty(
      "payout",
    );
  });

  test("pay per click is refused while a partner has own terms (OFF-035, OFF-036, OFF-037, OFF-038, T26)", async () => {
    const { id } = await world.offer();
    expect((await world.patch(`/offers/${id}`, { payout_type: "cpc" })).status).toBe(200);
    expect((await world.patch(`/offers/${id}`, { payout_type: "cpa" })).status).toBe(200);
    await world.overridePayout(id, "cpa", "15");
    const refused = await world.patch(`/offers/${id}`, {
      name: "Y",
      payout_type: "cpc",
      revenue_type: "rpc",
    });
    expect(refusal(refused)).toBe("400 validation_failed");
    expect(Object.keys(details(refused).fields).sort()).toEqual(["payout_type", "revenue_type"]);
    expect(record(await world.get(`/offers/${id}`))).toMatchObject({
      name: "Offer",
      payout_type: "cpa",
    });
  });
});

describe("events", () => {
  describe("(OFF-039, OFF-040, OFF-041, OFF-042, OFF-043, OFF-044, OFF-045, OFF-046) (ENV-022)", () => {
    describe("T75", () => {
      test("an event has defaults and a unique code", async () => {
        const { id } = await world.offer();
        const made = await world.post(`/offers/${id}/events`, {
          code: "lead",
          name: "Lead",
          revenue: "3",
          payout: "2",
        });
        expect(made.status).toBe(201);
        expect(record(made)).toEqual({
          id: someId,
          code: "lead",
          name: "Lead",
          revenue_type: "rpa",
          revenue: "3.0000",
          payout_type: "cpa",
          payout: "2.0000",
          is_default: false,
          is_private: false,
          allow_multiple: false,
        });
        const again = await world.post(`/offers/${id}/events`, { code: "lead", is_private: true });
        expect(`${refusal(again)} ${details(again).field}`).toBe("409 conflict code");
        const repeatable = { code: "Lead", is_private: true, allow_multiple: true };
        const other = await world.post(`/offers/${id}/events`, repeatable);
        expect([other.status, other.body]).toMatchObject([201, { data: repeatable }]);
        expect(refusal(await world.post("/offers/999999/events", { code: "x" }))).toBe(
          "404 not_found",
        );
        expect(details(await world.post(`/offers/${id}/events`, { name: "x" })).fields).toEqual({
          code: "required",
        });
        expect(
          details(await world.post(`/offers/${id}/events`, { code: "x", payout_type: "cpc" }))
            .fields,
        ).toHaveProperty("payout_type");
        const { events } = record(await world.get(`/offers/${id}`));
        expect(events).toMatchObject([{ code: "default" }, { code: "lead" }, { code: "Lead" }]);
      });
    });
  });
});

describe("destinations", () => {
  const destination_url = "https://shop.example/?c={click_id}";
  const write = async (url: string) =>
    await world.post("/offers", {
      name: "Destination",
      advertiser_id: world.tenant.advertiserId,
      destination_url: url,
    });
  const settingsOf = async (id: unknown): Promise<unknown> =>
    (await world.get(`/offers/${String(id)}/settings`)).body["data"];

  test("saving one says what is probably wrong with its macros, and nothing else warns (G245)", async () => {
    for (const [url, warning] of [
      ["https://shop.example/", "without {click_id}"],
      ["https://shop.example/?c={{click_id}}", "write {click_id}"],
      ["https://shop.example/?c=[click_id]", "write {click_id}"],
      ["https://shop.example/?c=%7Bclick_id%7D", "write {click_id}"],
    ] as const) {
      const created = await write(url);
      expect([created.status, created.body["warnings"]], url).toEqual([
        201,
        [expect.stringContaining(warning)],
      ]);
      const id = String(record(created)["id"]);
      const again = await world.patch(`/offers/${id}`, { destination_url: url });
      expect(again.body["warnings"], url).toEqual(created.body["warnings"]);
      expect((await world.patch(`/offers/${id}`, { name: "x" })).body).not.toHaveProperty(
        "warnings",
      );
    }
    expect((await write(destination_url)).body).not.toHaveProperty("warnings");
  });

  test("{param:name} and {utm_source} are macros, and a name that cannot be one is refused (G244)", async () => {
    const known = "https://shop.example/?c={click_id}&a={param:Foo.b-1}&b={utm_source}&d={utm_id}";
    expect((await write(known)).status).toBe(201);
    for (const macro of ["{param:}", "{param:a b}", "{Param:a}", "{utm_sorce}"])
      expect(refusal(await write(`${destination_url}&a=${macro}`)), macro).toBe(
        "400 validation_failed",
      );
  });

  test("which parameters are passed is a field of writes, shown with the settings (G244)", async () => {
    const { id } = await world.offer({ pass_parameters: "utm" });
    expect(await settingsOf(id)).toMatchObject({ pass_parameters: "utm" });
    const patched = await world.patch(`/offers/${id}`, { pass_parameters: "all" });
    expect(Object.keys(record(patched)).sort()).toEqual([...OFFER_FIELDS].sort());
    await world.patch(`/offers/${id}`, { name: "Other" });
    expect(await settingsOf(id)).toMatchObject({ pass_parameters: "all" });
    expect(await settingsOf((await world.offer({})).id)).toMatchObject({ pass_parameters: "none" });
    expect(refusal(await world.patch(`/offers/${id}`, { pass_parameters: "yes" }))).toBe(
      "400 validation_failed",
    );
  });

  test("hosts in other scripts are kept in punycode, and other URLs as they are (G246)", async () => {
    const offer = await world.offer({
      destination_url: "https://Bücher.example:8443/ü?c={click_id}",
      fallback_url: "http://例え.テスト",
      preview_url: "https://SHOP.example/ü",
    });
    expect(offer).toMatchObject({
      destination_url: "https://xn--bcher-kva.example:8443/ü?c={click_id}",
      fallback_url: "http://xn--r8jz45g.xn--zckzah",
      preview_url: "https://SHOP.example/ü",
    });
  });
});
