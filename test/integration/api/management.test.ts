import { expect, test } from "vitest";
import { forThisFile } from "../../services/for-this-file.ts";
import { ApiWorld, details, type Json, list, nextCursor, record, refusal } from "./api-world.ts";

const world = await forThisFile(ApiWorld.open());
const foreign = await world.addTenant("foreign");
/** Records that other records refer to: [ours, the foreign workspace's]. */
const offers: [number, number] = [
  (await world.offer({ events: [{ code: "sale" }] })).id,
  (await world.offer({ advertiser_id: foreign.advertiserId }, foreign.keys.admin)).id,
];
const domain = async (host: string, key: string): Promise<number> =>
  Number(record(await world.post("/tracking-domains", { host }, key)).id);
const domains: [number, number] = [
  await domain("go.example.com", world.tenant.keys.admin),
  await domain("go.foreign.example", foreign.keys.admin),
];

type Case = {
  readonly path: string;
  /** The body of the request. */
  readonly body: Json;
  /** Fields of the answer that the body lacks or that differ from it. */
  readonly answered: Json;
  readonly change?: Json;
  /** Refused bodies, each with the reported field. */
  readonly refused: readonly (readonly [string, Json])[];
  /** The field that must be unique. */
  readonly taken?: string;
  readonly cannotDelete?: true;
};

const ours = { offer_id: offers[0], affiliate_id: world.tenant.affiliateId };

const CASES: readonly Case[] = [
  {
    path: "/users",
    body: { name: "Mia" },
    answered: { email: "", status: "active" },
    change: { email: "mia@example.com", status: "inactive" },
    refused: [
      ["name", {}],
      ["email", { name: "x", email: "mia" }],
      ["affiliate_id", { name: "x", affiliate_id: world.tenant.affiliateId }],
    ],
    cannotDelete: true,
  },
  {
    path: "/tracking-domains",
    body: { host: "Links.Example.com" },
    answered: {
      host: "links.example.com",
      scheme: "https",
      status: "active",
      is_default: false,
      certification: "not_certified",
    },
    change: { certification: "certified", status: "inactive", scheme: "http" },
    refused: [
      ["host", {}],
      ["host", { host: "https://go.example" }],
      ["host", { host: "-x.example" }],
      ["scheme", { host: "a.example", scheme: "ftp" }],
    ],
    taken: "host",
  },
  {
    path: "/tracking-domain-assignments",
    body: { domain_id: domains[0], affiliate_id: world.tenant.affiliateId },
    answered: { offer_id: null },
    refused: [
      ["domain_id", ours],
      ["domain_id", { domain_id: domains[1], ...ours }],
      ["affiliate_id", { domain_id: domains[0] }],
      ["offer_id", { domain_id: domains[0], offer_id: offers[1] }],
    ],
    taken: "domain_id",
  },
  {
    path: "/link-keys",
    body: { ...ours, key: "spring_2026" },
    answered: {},
    refused: [
      ["offer_id", { affiliate_id: world.tenant.affiliateId }],
      ["affiliate_id", { ...ours, affiliate_id: foreign.affiliateId }],
      ["key", { ...ours, key: "with-hyphen" }],
    ],
    taken: "key",
  },
  {
    path: "/smart-links",
    body: {
      code: "BEST",
      name: "Best",
      rules: [{ conditions: { countries_allow: ["DE"] }, offers: [{ offer_id: offers[0] }] }],
    },
    answered: {
      status: "active",
      affiliate_id: null,
      mode: "weighted",
    },
    change: { mode: "waterfall", affiliate_id: world.tenant.affiliateId },
    refused: [
      ["name", {}],
      ["mode", { name: "x", mode: "random" }],
      ["rules[0].offers", { name: "x", rules: [{ offers: [] }] }],
      [
        "rules[0].offers[0].offer_id",
        { name: "x", rules: [{ offers: [{ offer_id: offers[1] }] }] },
      ],
      ["rules[0].offers", { name: "x", rules: [{ offers: [{ offer_id: offers[0], weight: 0 }] }] }],
      [
        "rules[0].conditions.planets",
        { name: "x", rules: [{ conditions: { planets: [] }, offers: [{ offer_id: offers[0] }] }] },
      ],
    ],
    taken: "code",
  },
  {
    path: "/traffic-source-templates",
    body: { name: "Search", params: { sub1: "{keyword}" }, source_id: "s" },
    answered: { traffic_source: "", affiliate_ids: [] },
    change: { affiliate_ids: [world.tenant.affiliateId], params: {} },
    refused: [
      ["name", {}],
      ["params.sub11", { name: "x", params: { sub11: "x" } }],
      ["affiliate_ids", { name: "x", affiliate_ids: [foreign.affiliateId] }],
    ],
  },
  {
    path: "/traffic-controls",
    body: {
      name: "No robots",
      action: "block",
      conditions: { user_agent_contains: ["bot"], ip_ranges: ["203.0.113.0/24"] },
    },
    answered: { status: "active", forward_offer_id: null },
    change: { action: "forward", forward_offer_id: offers[0] },
    refused: [
      ["conditions", { name: "x", action: "block" }],
      ["conditions", { name: "x", action: "block", conditions: { sub: { sub1: [] } } }],
      ["forward_offer_id", { name: "x", action: "forward", conditions: { countries: ["DE"] } }],
      [
        "conditions.ip_ranges[0]",
        { name: "x", action: "block", conditions: { ip_ranges: ["10.0.0.0/99"] } },
      ],
      [
        "conditions.offer_ids",
        { name: "x", action: "block", conditions: { offer_ids: [offers[1]] } },
      ],
    ],
  },
  {
    path: "/offer-groups",
    body: {
      name: "Finance",
      offer_ids: [offers[0]],
      caps: { conversions: { daily: 5 }, payout: { monthly: "100.0000" } },
    },
    answered: {},
    change: { caps: { alert_only: true }, offer_ids: [] },
    refused: [
      ["name", {}],
      ["offer_ids", { name: "x", offer_ids: [offers[1]] }],
      ["caps.conversions.daily", { name: "x", caps: { conversions: { daily: -1 } } }],
      ["caps.visits", { name: "x", caps: { visits: {} } }],
    ],
  },
  {
    path: "/payout-overrides",
    body: { ...ours, event_code: "sale", payout_type: "cps", payout: "12.5" },
    answered: { payout: "12.5000", revenue_type: null, revenue: null },
    change: { payout: "13.0000", revenue_type: "rpa", revenue: "20.0000" },
    refused: [
      ["payout_type", ours],
      ["payout", { ...ours, payout_type: "cpa" }],
      ["payout_type", { ...ours, payout: "1" }],
      ["payout", { ...ours, payout_type: "cps", payout: "101" }],
      ["payout_type", { ...ours, payout_type: "cpc", payout: "1" }],
      ["event_code", { ...ours, event_code: "zz", payout_type: "cpa", payout: "1" }],
      ["offer_id", { ...ours, offer_id: offers[1], payout_type: "cpa", payout: "1" }],
    ],
    taken: "event_code",
  },
  {
    path: "/conversion-rules",
    body: {
      name: "large",
      action: "hold",
      conditions: { min_sale_amount: "500.0000", methods: ["s2s"], sub: { sub2: ["x"] } },
    },
    answered: { position: 0, status: "active" },
    change: { position: 3, status: "paused" },
    refused: [
      ["action", { name: "x", conditions: { countries: ["DE"] } }],
      ["conditions", { name: "x", action: "hold", conditions: {} }],
      [
        "conditions.max_sale_amount",
        {
          name: "x",
          action: "hold",
          conditions: { min_sale_amount: "2", max_sale_amount: "1" },
        },
      ],
      ["conditions.methods[0]", { name: "x", action: "hold", conditions: { methods: ["fax"] } }],
    ],
  },
  {
    path: "/coupons",
    body: {
      code: "SAVE10",
      affiliate_id: world.tenant.affiliateId,
      starts_at: "2026-01-01T01:00:00+01:00",
    },
    answered: {
      starts_at: "2026-01-01T00:00:00.000Z",
      ends_at: null,
      offer_id: null,
      status: "active",
    },
    change: { ends_at: "2027-01-01T00:00:00.000Z", status: "inactive" },
    refused: [
      ["code", { affiliate_id: world.tenant.affiliateId }],
      ["affiliate_id", { code: "X", affiliate_id: foreign.affiliateId }],
      [
        "starts_at",
        {
          code: "X",
          affiliate_id: world.tenant.affiliateId,
          starts_at: "0000-01-01T00:00:00Z",
        },
      ],
      [
        "ends_at",
        {
          code: "X",
          affiliate_id: world.tenant.affiliateId,
          starts_at: "2026-01-02T00:00:00Z",
          ends_at: "2026-01-01T00:00:00Z",
        },
      ],
      ["starts_at", { code: "X", affiliate_id: world.tenant.affiliateId, starts_at: "tomorrow" }],
    ],
    taken: "code",
  },
];

const withChange = CASES.flatMap(({ change, ...one }) =>
  change === undefined ? [] : [{ ...one, change }],
);
const withTaken = CASES.flatMap(({ taken, ...one }) =>
  taken === undefined ? [] : [{ ...one, taken }],
);
const repeatable = CASES.filter(({ taken }) => taken === undefined);
const deletable = CASES.filter(({ cannotDelete }) => cannotDelete !== true);

test.each(CASES)("$path: a record is created, read and listed (G179)", async (one) => {
  const created = await world.post(one.path, one.body);
  const fields = { ...one.body, ...one.answered };
  expect([created.status, created.body]).toMatchObject([201, { data: fields }]);
  expect(record(await world.get(`${one.path}/${record(created).id}`))).toEqual(record(created));
  expect(list(await world.get(one.path))[0]).toEqual(record(created));
  await world.call("DELETE", `${one.path}/${record(created).id}`);
});

test.each(withChange)(
  "$path: PATCH changes the given fields; a repeat changes nothing (G13, G28)",
  async (one) => {
    const created = record(await world.post(one.path, one.body));
    const target = `${one.path}/${created.id}`;
    const changed = await world.patch(target, one.change);
    expect([changed.status, changed.body]).toMatchObject([200, { data: one.change }]);
    expect(record(changed)["updated_at"]).not.toBe(created["updated_at"]);
    expect(record(await world.patch(target, one.change))).toEqual(record(changed));
    expect(record(await world.get(target))).toEqual(record(changed));
    await world.call("DELETE", target);
  },
);

test.each(deletable)("$path: a deleted record is gone", async (one) => {
  const { id } = record(await world.post(one.path, one.body));
  const deleted = await world.call("DELETE", `${one.path}/${id}`);
  expect([deleted.status, deleted.body]).toEqual([200, { data: { id, deleted: true } }]);
  expect((await world.get(`${one.path}/${id}`)).status).toBe(404);
  expect((await world.call("DELETE", `${one.path}/${id}`)).status).toBe(404);
});

test.each(CASES)(
  "$path: faults are reported by field, and nothing is stored (G14, G15)",
  async (one) => {
    const before = list(await world.get(`${one.path}?limit=200`)).length;
    for (const [field, wrong] of one.refused) {
      const answer = await world.post(one.path, wrong);
      expect([refusal(answer), wrong]).toEqual(["400 validation_failed", wrong]);
      expect([Object.keys(details(answer).fields ?? {}), wrong]).toEqual([[field], wrong]);
    }
    const unknown = await world.post(one.path, { ...one.body, moon: 1 });
    expect(details(unknown).fields).toEqual({ moon: "unknown field" });
    expect(list(await world.get(`${one.path}?limit=200`))).toHaveLength(before);
  },
);

test.each(withTaken)("$path: a unique value of another record is a conflict", async (one) => {
  const first = await world.post(one.path, one.body);
  expect(first.status).toBe(201);
  const second = await world.post(one.path, one.body);
  expect(refusal(second)).toBe("409 conflict");
  expect(details(second).field).toBe(one.taken);
  await world.call("DELETE", `${one.path}/${record(first).id}`);
});

test.each(CASES)(
  "$path: admin keys write, analyst keys read, the others have no access (G03)",
  async (one) => {
    const { keys } = world.tenant;
    const target = `${one.path}/${record(await world.post(one.path, one.body)).id}`;
    expect((await world.get(target, keys.analyst)).status).toBe(200);
    expect((await world.get(one.path, keys.analyst)).status).toBe(200);
    expect(refusal(await world.post(one.path, one.body, keys.analyst))).toBe("403 read_only_key");
    for (const key of [keys.partner, keys.advertiser]) {
      expect(refusal(await world.get(one.path, key))).toBe("403 forbidden");
      expect(refusal(await world.get(target, key))).toBe("403 forbidden");
      expect(refusal(await world.post(one.path, one.body, key))).toBe("403 forbidden");
    }
    await world.call("DELETE", target);
  },
);

test.each(CASES)("$path: another workspace neither sees nor changes it (P30)", async (one) => {
  const { id } = record(await world.post(one.path, one.body));
  const target = `${one.path}/${id}`;
  const key = foreign.keys.admin;
  expect((await world.get(target, key)).status).toBe(404);
  const deleted = await world.call("DELETE", target, { key });
  expect(deleted.status).toBe(one.cannotDelete === true ? 405 : 404);
  const changed = await world.patch(target, {}, key);
  expect(changed.status).toBe(one.change === undefined ? 405 : 404);
  const seen = list(await world.get(`${one.path}?limit=200`, key));
  expect(seen.map((row) => row.id)).not.toContain(id);
  expect((await world.get(target)).status).toBe(200);
  await world.call("DELETE", target);
});

test.each(repeatable)("$path: pages have no gap and no repeat (LIM-007)", async (one) => {
  const made: unknown[] = [];
  for (let index = 0; index < 5; index += 1)
    made.push(record(await world.post(one.path, one.body)).id);
  const seen: unknown[] = [];
  let cursor: string | null = null;
  do {
    const after: string = cursor === null ? "" : `&cursor=${cursor}`;
    const page = await world.get(`${one.path}?limit=2${after}`);
    seen.push(...list(page).map(({ id }) => id));
    cursor = nextCursor(page);
  } while (cursor !== null && seen.length < 1_000);
  expect(new Set(seen).size).toBe(seen.length);
  expect(seen.slice(0, 5)).toEqual(made.toReversed());
});

test("of domains made the default at once all are stored and one is the default", async () => {
  const answers = await Promise.all(
    Array.from({ length: 10 }, async (_, number) => {
      const host = `default${number}.example.com`;
      return await world.post("/tracking-domains", { host, is_default: true });
    }),
  );
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
  const stored = list(await world.get("/tracking-domains?limit=200"));
  expect(stored.filter(({ is_default }) => is_default)).toHaveLength(1);
});
