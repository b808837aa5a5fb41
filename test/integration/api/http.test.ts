import { isDeepStrictEqual } from "node:util";
import { describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { openClickhouse } from "../../../schemas/clickhouse/connect.ts";
import { processorTimeRatioOf } from "../../samples/processor-time.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { ApiWorld, details, list, nextCursor, refusal } from "./api-world.ts";
import { whileTableIsLocked } from "./locked-table.ts";

const world = await forThisFile(ApiWorld.open());
const { admin } = world.tenant.keys;
const JSON_MEDIA = "application/json";

const Document = z.looseObject({
  paths: z.record(z.string(), z.record(z.string(), z.looseObject({ operationId: z.string() }))),
  components: z.looseObject({ schemas: z.record(z.string(), z.unknown()) }),
});

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe("headers", () => {
  test.each([
    ["GET", "/me", 200],
    ["GET", "/nope", 404],
    ["GET", "/offers/999999", 404],
    ["GET", "/offers?limit=0", 400],
    ["DELETE", "/offers", 405],
    ["PROPFIND", "/offers", 405],
    ["OPTIONS", "/offers", 405],
    ["POST", "/offers", 400],
  ] as const)(
    "%s %s answers %i with id, budget and JSON (ENV-026, ENV-027, ENV-037, ERR-001, G18, G19, G21, T42)",
    async (method, path, status) => {
      const answer = await world.call(method, path);
      expect(answer.status).toBe(status);
      expect(answer.headers.get("x-request-id")).toMatch(UUID);
      expect(answer.headers.get("x-ratelimit-limit")).toBe("1000000");
      expect(Number(answer.headers.get("x-ratelimit-remaining"))).toBeLessThan(1_000_000);
      expect(Number(answer.headers.get("x-ratelimit-reset"))).toBeGreaterThanOrEqual(1);
      expect(Number(answer.headers.get("x-ratelimit-reset"))).toBeLessThanOrEqual(60);
      expect(answer.headers.get("content-type")).toBe("application/json; charset=utf-8");
      expect(answer.headers.get("cache-control")).toBe("no-store");
      expect(answer.headers.get("access-control-allow-origin")).toBeNull();
      expect(answer.headers.get("allow")).toBe(status === 405 ? "GET, HEAD, POST" : null);
    },
  );

  test("a valid request id of the caller is echoed (G18)", async () => {
    const echoed = async (id: string) => {
      const answer = await world.call("GET", "/me", { headers: { "x-request-id": id } });
      return answer.headers.get("x-request-id");
    };
    expect(await echoed("my-id_1.2")).toBe("my-id_1.2");
    expect(await echoed("not an id")).toMatch(UUID);
    expect(await echoed("x".repeat(65))).toMatch(UUID);
  });

  test("HEAD is GET without a body; a trailing slash makes another path (G20, ERR-005)", async () => {
    expect((await world.call("HEAD", "/offers")).status).toBe(200);
    expect((await world.call("HEAD", "/offers/999999")).status).toBe(404);
    expect(refusal(await world.get("/offers/"))).toBe("404 not_found");
    expect(refusal(await world.get(""))).toBe("404 not_found");
    expect(await world.rawPath("/api/v1/offers/%zz")).toBe(404);
    expect(await world.rawPath("/api/v1//offers")).toBe(404);
    expect(await world.rawPath("/api/v1/OFFERS")).toBe(404);
  });
});

describe("bodies", () => {
  const send = async (raw: string, type: string | undefined = "application/json") =>
    refusal(
      await world.call("POST", "/offers", {
        raw,
        headers: type === "" ? {} : { "content-type": type },
      }),
    );

  test("a body that is not a JSON object is refused by its kind (ERR-007, ERR-008, ERR-010, G12)", async () => {
    expect(await send("{")).toBe("400 invalid_json");
    expect(await send("")).toBe("400 invalid_json");
    expect(await send("[]")).toBe("400 invalid_request");
    expect(await send("null")).toBe("400 invalid_request");
    expect(await send('"text"')).toBe("400 invalid_request");
    expect(await send("{}", "text/plain")).toBe("415 unsupported_media_type");
    expect(await send("{}", "application/jsonx")).toBe("415 unsupported_media_type");
    expect(await send('{"__proto__":{"x":1}}')).toBe("400 invalid_json");
    for (const type of [
      "application/json; charset=utf-8",
      "application/vnd.api+json",
      "APPLICATION/JSON",
    ]) {
      expect(await send("{}", type)).toBe("400 validation_failed");
    }
  });

  test("a body of 1 MiB is read, one byte more is refused (ERR-009, T70)", async () => {
    const sized = (bytes: number) => {
      const empty = JSON.stringify({ name: "" });
      return JSON.stringify({ name: "x".repeat(bytes - empty.length) });
    };
    expect(await send(sized(1024 ** 2))).toBe("400 validation_failed");
    expect(await send(sized(1024 ** 2 + 1))).toBe("413 payload_too_large");
  });

  test("a missing record is 404 before its body is checked (G02)", async () => {
    expect(refusal(await world.patch("/offers/999999", { foo: 1 }))).toBe("404 not_found");
    expect(
      refusal(
        await world.call("PATCH", "/offers/999999", {
          raw: "{",
          headers: { "content-type": "application/json" },
        }),
      ),
    ).toBe("400 invalid_json");
  });

  test("text that Postgres cannot store is a fault of its field", async () => {
    const answer = await world.post("/affiliates", { name: "a\0b", company: "\ud800" });
    expect(Object.keys(details(answer).fields).sort()).toEqual(["company", "name"]);
  });
});

describe("what a body may cost", () => {
  const numbered = (count: number, one: (index: number) => string) =>
    Array.from({ length: count }, (_, index) => one(index)).join(",");
  const DEEP = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
  const raw = async (path: string, body: string, key: string | undefined = admin) =>
    await world.call("POST", path, { raw: body, key, headers: { "content-type": JSON_MEDIA } });

  test("of 90,000 unknown fields five are named, and the rest are counted (#35, G14, G213)", async () => {
    for (const [path, prefix, head] of [
      ["/offers", "", "{"],
      ["/affiliates", "", "{"],
      ["/traffic-controls", "conditions.", '{"conditions":{'],
    ] as const) {
      const body = `${head}${numbered(90_000, (index) => `"f${index}":1`)}${"}".repeat(head.split("{").length - 1)}`;
      const answer = await raw(path, body);
      expect(refusal(answer)).toBe("400 validation_failed");
      const names = [0, 1, 2, 3, 4].map((index) => `${prefix}f${index}`);
      expect(Object.entries(details(answer).fields)).toEqual(
        names.map((name) => [name, "unknown field"]),
      );
      expect(answer.text).toContain('f4 and over 1000 more"');
      expect(answer.text.length).toBeLessThan(1_000);
    }
  });

  test("fewer unknown fields are counted one by one, beside the other faults (G15, G213)", async () => {
    const answer = await raw("/advertisers", `{${numbered(60, (index) => `"f${index}":1`)}}`);
    expect(answer.text).toContain("wrong or missing: name, f0, f1, f2, f3, f4 and 55 more");
    expect(details(answer).fields).toMatchObject({ name: "required", f4: "unknown field" });
  });

  test("of the faults of a list a hundred are named, and the others still count (G15, G213)", async () => {
    const conditions = `{"countries":[${numbered(1_000, () => '"XX"')}],"ip_ranges":[7]}`;
    const answer = await raw("/traffic-controls", `{"name":7,"conditions":${conditions}}`);
    const names = Object.keys(details(answer).fields);
    expect(names.filter((name) => name.startsWith("conditions.countries["))).toHaveLength(100);
    expect(names).toEqual(expect.arrayContaining(["name", "action", "conditions.ip_ranges[0]"]));
    expect(details(answer).fields["conditions.countries"]).toContain("the first 100 faulty");
  });

  test.each([
    ["/traffic-controls", `{"name":"a","action":"block","conditions":${DEEP}}`],
    ["/traffic-controls", `{"name":"a","action":"block","conditions":{"x":${DEEP}}}`],
    ["/conversion-rules", `{"name":"a","action":"hold","conditions":{"sub":${DEEP}}}`],
    [
      "/smart-links",
      `{"name":"a","rules":[{"conditions":${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}}]}`,
    ],
    ["/affiliates", `{"name":"a","payment_details":${DEEP}}`],
    ["/ad-costs", `{"rows":[${DEEP}]}`],
    ["/offers", "[".repeat(100_000)],
  ])("JSON that is 100,000 levels deep is a clear 400 at %s (#35, G213)", async (path, body) => {
    const answer = await raw(path, body);
    expect(refusal(answer)).toBe("400 invalid_request");
    expect(answer.text).toContain("the body is nested more than 32 levels deep");
  });

  test("a request with a refused body costs at most 1.5 times one with a text (#35, P40, G213)", async () => {
    const text = `{"name":"${"x".repeat(1_040_000)}"}`;
    const usual = async () => await raw("/offers", text);
    for (const body of [
      `{${numbered(90_000, (index) => `"f${index}":1`)}}`,
      `{"tags":[${numbered(500_000, () => "1")}]}`,
    ]) {
      const other = async () => await raw("/offers", body);
      expect(await processorTimeRatioOf({ usual, other }, 1.5)).toBeLessThan(1.5);
    }
  });
});

describe("paging", () => {
  test.each(["/offers", "/affiliates", "/advertisers"])(
    "%s: 50 rows a page, at most 200 (LIM-005, LIM-006, OFF-002, AFF-001, ADV-001, ERR-003, G16)",
    async (path) => {
      for (const limit of ["0", "-1", "abc", "1.5", "201", ""]) {
        const answer = await world.get(`${path}?limit=${limit}`);
        expect([limit, refusal(answer), details(answer).param]).toEqual([
          limit,
          "400 invalid_parameter",
          "limit",
        ]);
      }
      expect((await world.get(`${path}?limit=200`)).status).toBe(200);
    },
  );

  test("pages joined are the list, also while rows are added (LIM-007, LIM-010, LIM-012, ENV-003)", async () => {
    for (let index = 0; index < 7; index += 1)
      await world.post("/affiliates", { name: `p${index}`, tags: ["paged"] });
    // Same creation time: the id decides.
    await world.pool.query({
      text: "update affiliate set created_at = now() where 'paged' = any(tags) and name > 'p3'",
    });
    const whole = list(await world.get("/affiliates?tag=paged")).map(({ id }) => id);
    expect(whole).toHaveLength(7);
    const seen: (number | string)[] = [];
    let cursor: string | null = "";
    for (let page = 0; page < 10 && cursor !== null; page += 1) {
      const suffix = cursor === "" ? "" : `&cursor=${cursor}`;
      // The page size may change between pages (G33).
      const answer = await world.get(`/affiliates?tag=paged&limit=${(page % 2) + 2}${suffix}`);
      seen.push(...list(answer).map(({ id }) => id));
      cursor = nextCursor(answer);
      expect(cursor ?? "end").toMatch(/^[A-Za-z0-9_.-]+$/);
      await world.post("/affiliates", { name: "later", tags: ["paged"] });
    }
    expect(cursor).toBeNull();
    expect(seen).toEqual(whole);
  });

  test("a cursor is valid for its list, filters and role only (LIM-008, LIM-009, G33)", async () => {
    await world.offer();
    await world.offer();
    const { next_cursor: cursor } = (await world.get("/offers?limit=1&status=active")).body;
    const at = async (path: string, key?: string) => {
      const answer = await world.call("GET", path, key === undefined ? {} : { key });
      return answer.status === 200 ? "200" : refusal(answer);
    };
    const text = String(cursor);
    expect(await at(`/offers?limit=2&status=active&cursor=${text}`)).toBe("200");
    expect(await at(`/offers?limit=1&cursor=${text}`)).toBe("400 invalid_cursor");
    expect(await at(`/affiliates?status=active&cursor=${text}`)).toBe("400 invalid_cursor");
    expect(await at(`/offers?status=active&cursor=${text}`, world.tenant.keys.advertiser)).toBe(
      "400 invalid_cursor",
    );
    const other = await world.addTenant("second");
    expect(await at(`/offers?status=active&cursor=${text}`, other.keys.admin)).toBe(
      "400 invalid_cursor",
    );
    for (const garbage of [
      "zzz",
      "",
      `${text}x`,
      `x${text}`,
      text.replace(/.$/, (last) => (last === "A" ? "B" : "A")),
    ]) {
      expect(await at(`/offers?status=active&cursor=${garbage}`), garbage).toBe(
        "400 invalid_cursor",
      );
    }
  });
});

test("the OpenAPI document needs no key and is complete (OAS-001, OAS-002, OAS-003, G04, G194)", async () => {
  const answer = await world.call("GET", "/openapi.json", { key: undefined });
  expect(answer.status).toBe(200);
  expect(answer.headers.get("x-ratelimit-limit")).not.toBeNull();
  expect(answer.body).toMatchObject({
    openapi: "3.1.0",
    info: { version: "1" },
    servers: [{ url: "https://api.example/api/v1" }],
    components: {
      securitySchemes: { bearerAuth: { type: "http", scheme: "bearer" } },
      schemas: { Error: {} },
    },
  });
  const { paths, components } = Document.parse(answer.body);
  const named = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method} ${path}`),
  );
  expect(named).toEqual(
    expect.arrayContaining([
      "get /me",
      "get /offers",
      "get /offers/{id}",
      "post /offers",
      "patch /offers/{id}",
      "post /offers/{id}/events",
      "put /offers/{id}/affiliates/{affiliate}",
      "get /affiliates",
      "get /affiliates/{id}",
      "post /affiliates",
      "patch /affiliates/{id}",
      "post /advertisers",
      "get /reports",
      "get /reports/timeseries",
      "get /clicks",
      "get /clicks/{click_id}",
      "get /conversions",
      "get /conversions/{id}",
      "post /conversions",
      "patch /conversions/{id}",
      "patch /conversions",
      "get /openapi.json",
    ]),
  );
  const ids = Object.values(paths).flatMap((methods) =>
    Object.values(methods).map(({ operationId }) => operationId),
  );
  expect(new Set(ids).size).toBe(ids.length);
  const references = JSON.stringify(answer.body).match(/"#\/components\/schemas\/[^"]+"/g) ?? [];
  const { schemas } = components;
  expect(references.length).toBeGreaterThan(10);
  for (const reference of references)
    expect(Object.keys(schemas)).toContain(reference.slice(22, -1));
  expect(refusal(await world.call("GET", "/openapi.json", { key: "nonsense" }))).toBe(
    "401 invalid_api_key",
  );
});

describe("faults of the service", () => {
  test("a store that does not answer is 503 with Retry-After and all headers (ERR-012, ERR-013)", async () => {
    await whileTableIsLocked(world.pool, "affiliate", async () => {
      const answer = await world.get("/affiliates");
      expect(refusal(answer)).toBe("503 unavailable");
      expect(answer.headers.get("retry-after")).toBe("30");
    });
    const fresh = await world.startAnother();
    await whileTableIsLocked(world.pool, "api_key", async () => {
      const answer = await world.callAt(fresh, "GET", "/me");
      expect(refusal(answer)).toBe("503 unavailable");
      expect(answer.headers.get("x-ratelimit-limit")).toBe("1000000");
    });
    expect((await world.callAt(fresh, "GET", "/me")).status).toBe(200);
  });

  test("without ClickHouse a report names the store of clicks and reports (ERR-013, P15)", async () => {
    const closed = openClickhouse({ url: "http://127.0.0.1:9/none", applicationName: "test" });
    world.atEnd(() => closed.close());
    const origin = await world.startAnother({ clickhouse: closed });
    const answer = await world.callAt(origin, "GET", "/reports?preset=today");
    expect(refusal(answer)).toBe("503 unavailable");
    expect(answer.text).toContain("the store of clicks and reports is not available");
  });

  test("while ids could repeat, a new record is 503 and everything else works (#7, P38)", async () => {
    await world.pool.query({ text: "update store_beat set verified_life = 'an earlier start'" });
    const refused = await world.post("/advertisers", { name: "Too early" });
    expect([refusal(refused), refused.headers.get("retry-after")]).toEqual([
      "503 unavailable",
      "30",
    ]);
    expect((await world.get("/advertisers")).status).toBe(200);
    await world.pool.query({ text: "update store_beat set verified_life = store_life()" });
    expect((await world.post("/advertisers", { name: "In time" })).status).toBe(201);
  });

  test("an internal fault is 500 without internal details (ERR-012)", async () => {
    await world.pool.query({ text: "alter table advertiser rename column phone to phone_gone" });
    const answer = await world.get("/advertisers");
    await world.pool.query({ text: "alter table advertiser rename column phone_gone to phone" });
    expect(refusal(answer)).toBe("500 internal_error");
    expect(JSON.stringify(answer.body)).not.toMatch(/phone|column|advertiser/);
    expect((await world.get("/advertisers")).status).toBe(200);
  });
});

test("requests for /health share one check of Postgres a second (P40)", async () => {
  const queries = vi.spyOn(world.pool, "query");
  const startedAtMs = performance.now();
  const answers = await Promise.all(
    Array.from({ length: 300 }, async () => await fetch(`${world.origin}/health`)),
  );
  const seconds = Math.ceil((performance.now() - startedAtMs) / 1_000);
  expect(answers.every(({ status }) => status === 200)).toBe(true);
  const checks = queries.mock.calls.filter(([asked]) =>
    isDeepStrictEqual(asked, { text: "select 1" }),
  );
  expect(checks.length).toBeLessThanOrEqual(seconds);
  queries.mockRestore();
});
