import { describe, expect, test } from "vitest";
import { z } from "zod";
import { parameterNames } from "../../../api/operation/parameters.ts";
import { ROLES } from "../../../api/operation/permissions.ts";
import { operations } from "../../../api/operations.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { ApiWorld, details, type Json, list, record, refusal } from "./api-world.ts";

const CLICK_ID = "0194F3C20194F3C20194F3C20194F3C2";

const world = await forThisFile(ApiWorld.open());
await world.startProcessor();
const offer = await world.offer({ currency: "EUR", visibility: "public" });
const affiliate = record(await world.post("/affiliates", { name: "Anna" }));
const conversion = record(
  await world.post("/conversions", { offer_id: offer.id, affiliate_id: affiliate.id }),
);

/** All values under matching names in a JSON value, at any depth. */
function valuesNamed(value: unknown, isNamed: (name: string) => boolean): unknown[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]: [string, unknown]) => [
    ...(isNamed(name) && inner !== null ? [inner] : []),
    ...valuesNamed(inner, isNamed),
  ]);
}

const Described = z.looseObject({
  parameters: z.array(z.looseObject({ in: z.string(), name: z.string() })).optional(),
});
const LISTS = ["/offers", "/affiliates", "/advertisers", "/conversions", "/keys", "/users"];

describe("envelope", () => {
  test.each(LISTS)(
    "%s has a list under data, and one of it a record (ENV-001, ENV-002, ENV-023, ENV-025)",
    async (path) => {
      await world.post("/users", { name: "Mia" });
      const answer = await world.get(path);
      expect([answer.status, Array.isArray(answer.body["data"])]).toEqual([200, true]);
      const [first] = list(answer);
      const one = await world.get(`${path}/${String(first?.id)}`);
      expect([one.status, Object.keys(one.body)]).toEqual([200, ["data"]]);
      expect(record(one)).toEqual(first);
      expect((await fetch(`${world.origin}${path}`)).status).toBe(404);
    },
  );

  test.each(LISTS)(
    "%s: ids are integers except of conversions, times end in .000Z (ENV-012, ENV-013, ENV-014)",
    async (path) => {
      const { body } = await world.get(path);
      const times = valuesNamed(
        body["data"],
        (name) => name.endsWith("_at") || name.endsWith("_ts"),
      );
      expect(times.length).toBeGreaterThan(0);
      for (const time of times) expect(time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      for (const { id } of list({ ...(await world.get(path)) }))
        expect(String(id)).toMatch(
          path === "/conversions" ? /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/ : /^[1-9]\d*$/,
        );
      const ids = list(await world.get(path)).map(({ id }) => typeof id);
      expect(new Set(ids)).toEqual(new Set([path === "/conversions" ? "string" : "number"]));
    },
  );

  test("a click id is accepted in any case and returned in lower case (ENV-015)", async () => {
    const body = { offer_id: offer.id, affiliate_id: affiliate.id, click_id: CLICK_ID };
    const answer = await world.post("/conversions", body);
    // The click is unknown: the refusal is not about the form of its id.
    expect(details(answer).fields).not.toHaveProperty("click_id", "expected 32 hex characters");
    const { rows } = await world.pool.query<{ click_id: string }>({
      text: "update conversion set click_id = $1 where id = $2 returning click_id",
      values: [CLICK_ID.toLowerCase(), conversion.id],
    });
    expect(rows).toHaveLength(1);
    const found = list(await world.get(`/conversions?click_id=${CLICK_ID}`));
    expect(found.map((row) => row["click_id"])).toEqual([CLICK_ID.toLowerCase()]);
  });

  test("id and code of a partner are equivalent for reads and changes (ENV-017, AFF-011)", async () => {
    const code = String(affiliate["code"]);
    expect((await world.get(`/affiliates/${code}`)).body).toEqual(
      (await world.get(`/affiliates/${affiliate.id}`)).body,
    );
    expect(record(await world.patch(`/affiliates/${code}`, { tier: "gold" }))).toMatchObject({
      id: affiliate.id,
      tier: "gold",
    });
    expect(refusal(await world.get("/affiliates/NOBODY99"))).toBe("404 not_found");
  });

  test.each([
    ["/offers", "currency", "ZZZZ", "ENV-018"],
    ["/offers", "currency", "usd ", "ENV-018"],
    ["/affiliates", "country", "ZZ", "ENV-019"],
    ["/advertisers", "country", "Germany", "ENV-019"],
  ])("%s: %s %j is not a valid code (%s)", async (path, field, value) => {
    const answer = await world.post(path, { name: "x", [field]: value });
    expect(refusal(answer)).toBe("400 validation_failed");
    expect(details(answer).fields).toHaveProperty(field);
  });

  test("a conversion has the currency of its offer (ENV-020)", async () => {
    expect(offer["currency"]).toBe("EUR");
    expect(conversion["currency"]).toBe("EUR");
  });

  test("the media type may have parameters (ENV-024)", async () => {
    const headers = { "content-type": "application/json; charset=utf-8" };
    const raw = JSON.stringify({ name: "Typed" });
    expect((await world.call("POST", "/affiliates", { raw, headers })).status).toBe(201);
  });

  type Read = { readonly path: string; readonly known: readonly string[]; readonly key: string };

  /** Reads for keys without path parameters, and reads of an existing offer, each with a key that may use it. */
  const reads = (): Read[] =>
    operations.flatMap(({ method, path, input, access: { roles, callers } }) => {
      const filled = path.replace("/offers/{id}", `/offers/${offer.id}`);
      const role = roles.includes("admin") ? "admin" : roles[0];
      if (method !== "GET" || filled.includes("{") || role === undefined) return [];
      if (callers !== undefined) return [];
      return [{ path: filled, known: parameterNames(input.query), key: world.tenant.keys[role] }];
    });

  test("every read refuses unknown query parameters and ignores those with _ (ENV-036, #21)", async () => {
    expect(reads().length).toBeGreaterThan(30);
    for (const { path, known, key } of reads()) {
      const plain = (await world.get(path, key)).status;
      expect([path, (await world.get(`${path}?_=1&_ts=2`, key)).status]).toEqual([path, plain]);
      const answer = await world.get(`${path}?_=1&foo=bar&foo=baz`, key);
      expect([path, refusal(answer)]).toEqual([path, "400 invalid_parameter"]);
      expect(details(answer).param).toBe("foo");
      expect(answer.text).toContain(known.length === 0 ? "accepts none" : "nearest known one");
    }
  });

  test("every read accepts the parameters of its description (ENV-036, #21)", async () => {
    const { body } = await world.call("GET", "/openapi.json");
    const paths = z.record(z.string(), z.record(z.string(), z.unknown())).parse(body["paths"]);
    for (const { path, known, key } of reads()) {
      const name = path.replace(`/offers/${offer.id}`, "/offers/{id}");
      const { parameters = [] } = Described.parse(paths[name]?.["get"]);
      const described = parameters.filter((one) => one.in === "query").map((one) => one.name);
      expect([path, described]).toEqual([path, known]);
      const all = [...described, "foo"].map((parameter) => `${parameter}=1`).join("&");
      const answer = await world.get(`${path}?${all}`, key);
      expect(answer.text).toMatch(/unknown query parameter \\"foo\\"[^,]*"/);
    }
  });

  test("a write with an unknown query parameter changes nothing; documents refuse it, too (#21)", async () => {
    const created = await world.post("/affiliates?dry_run=true", { name: "Unwanted" });
    expect([refusal(created), details(created).param]).toEqual([
      "400 invalid_parameter",
      "dry_run",
    ]);
    expect(list(await world.get("/affiliates?q=Unwanted"))).toEqual([]);
    for (const path of ["/openapi.json", "/docs"]) {
      expect(refusal(await world.get(`${path}?version=2`))).toBe("400 invalid_parameter");
      expect((await world.get(`${path}?_=1`)).status).toBe(200);
    }
  });

  test("a misspelt filter is reported with the nearest known name (#21)", async () => {
    const answer = await world.get("/clicks?offerid=1&preset=today");
    expect([refusal(answer), details(answer).param]).toEqual(["400 invalid_parameter", "offerid"]);
    expect(answer.text).toContain('nearest known one is \\"offer_id\\"');
  });

  test.each([
    ["/offers?currency=ZZZZ", "currency"],
    ["/offers?currency=usd", "currency"],
    ["/fx-rates?currency=ZZZZ", "currency"],
    ["/ad-costs?currency=ZZZZ", "currency"],
    ["/reports?currency=ZZZZ", "currency"],
    ["/reports/timeseries?currency=ZZZZ", "currency"],
    ["/reports?filters=currency:in:USD|ZZZZ", "filters"],
    ["/reports?filters=currency:not_in:ZZZZ", "filters"],
  ])("%s has an invalid currency: 400 (#21)", async (path, param) => {
    const answer = await world.get(path);
    expect([refusal(answer), details(answer).param]).toEqual(["400 invalid_parameter", param]);
  });
});

describe("values of an offer", () => {
  const body = (fields: Json): Json => ({
    name: "x",
    advertiser_id: world.tenant.advertiserId,
    destination_url: "https://shop.example/",
    ...fields,
  });

  const VALUES: readonly (readonly [string, readonly unknown[], unknown, string])[] = [
    ["status", ["active", "paused"], "deleted", "OFF-006"],
    ["visibility", ["public", "approval", "private"], "x", "OFF-007"],
    ["revenue_type", ["rpa", "rps", "rpc"], "cpa", "OFF-008"],
    ["payout_type", ["cpa", "cps", "cpc"], "rpa", "OFF-009"],
    ["conversion_method", ["any", "pixel"], "fax", "OFF-010"],
    ["default_status", ["approved", "pending"], "rejected", "OFF-011"],
    ["allowed_domains", [["a.example"], []], "a.example", "OFF-012"],
    ["tags", [["a", "b"], []], "a", "OFF-012"],
  ];

  test.each(VALUES)("%s accepts %j and refuses %j (%s)", async (field, accepted, refused) => {
    for (const value of accepted)
      expect(record(await world.post("/offers", body({ [field]: value })))[field]).toEqual(value);
    const answer = await world.post("/offers", body({ [field]: refused }));
    expect(Object.keys(details(answer).fields)).toEqual([field]);
  });

  test("offers are listed newest first, for every role (OFF-001)", async () => {
    const made = [await world.offer(), await world.offer(), await world.offer()].map(
      ({ id }) => id,
    );
    for (const role of ROLES) {
      const answer = await world.get("/offers?limit=3", world.tenant.keys[role]);
      expect(list(answer).map(({ id }) => id)).toEqual(made.toReversed());
      expect(z.string().parse(answer.body["next_cursor"])).not.toBe("");
    }
  });
});

test("a user of the workspace has no role and no account of a partner (AUTH-027)", async () => {
  for (const field of ["role", "affiliate_id", "password"]) {
    const answer = await world.post("/users", { name: "x", [field]: "x" });
    expect(details(answer).fields).toEqual({ [field]: "unknown field" });
  }
  expect(refusal(await world.post(`/affiliates/${affiliate.id}/users`, { name: "x" }))).toBe(
    "404 not_found",
  );
});

test("admin and analyst see every field except the partner's (VIS-001, VIS-002, VIS-011)", async () => {
  const staff =
    "revenue payout destination_url fallback_url caps allowed_domains targeting advertiser_id";
  const partners = ["access_status", "can_run", "tracking_link"];
  await world.post("/tracking-domains", { host: "go.example.com" });
  const { admin, analyst, partner, advertiser } = world.tenant.keys;
  const seenBy = async (key: string) => record(await world.get(`/offers/${offer.id}`, key));
  expect(await seenBy(admin)).toEqual(await seenBy(analyst));
  expect(Object.keys(await seenBy(admin))).toEqual(expect.arrayContaining(staff.split(" ")));
  for (const key of [admin, analyst, advertiser])
    expect(Object.keys(await seenBy(key)).filter((name) => partners.includes(name))).toEqual([]);
  expect(Object.keys(await seenBy(partner))).toEqual(expect.arrayContaining(partners));
});
