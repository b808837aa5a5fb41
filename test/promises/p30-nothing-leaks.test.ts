import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { asObject } from "../../api/operation/json-object.ts";
import type { Operation } from "../../api/operation/operation.ts";
import type { Role } from "../../api/operation/permissions.ts";
import type { DescribedAnswer } from "../system/described-answers.ts";
import { until } from "../system/until.ts";
import { adCostsOf, BODIES } from "./leaks/bodies.ts";
import {
  canariesInLogs,
  keysInTables,
  type Looked,
  sendCanaries,
  watchSubjects,
} from "./leaks/canaries.ts";
import { hiddenIn, keysOf, neverShown } from "./leaks/hidden-fields.ts";
import {
  type Account,
  creators,
  fillPath,
  LeakWorld,
  ofRole,
  operationsOfAccounts,
  placesOf,
  walk,
} from "./leaks/leak-world.ts";

const Made = z.object({ data: z.looseObject({ id: z.int() }) });

let world: LeakWorld;
let own: Account;
/** Another partner and another advertiser of the same workspace. */
let rival: Account;
/** An account of another workspace. */
let foreign: Account;
let subjects: Awaited<ReturnType<typeof watchSubjects>>;

beforeAll(async () => {
  world = await LeakWorld.open();
  subjects = await watchSubjects(world);
  const admin = await world.makeWorkspace("first");
  own = await world.addAccount(admin, "ownword");
  rival = await world.addAccount(admin, "rivalword");
  foreign = await world.addAccount(await world.makeWorkspace("second"), "alienword");
});
afterAll(async () => {
  await subjects.close();
  await world.close();
});

test("there is a record for every POST and for every parameter of a path", () => {
  const unmade = creators.map(({ path }) => path).filter((path) => BODIES[path] === undefined);
  expect(unmade, "add the bodies of these to leaks/bodies.ts").toEqual([]);
  const places = new Set(operationsOfAccounts.flatMap(placesOf));
  expect([...places].filter((place) => own.ids.get(place) === undefined)).toEqual([]);
  expect(places.size).toBeGreaterThan(15);
});

/** Paths of an operation: with one parameter in turn naming a record of `other` and the rest our own, and with all naming `other`'s. */
function pathsWith(operation: Operation, other: Account): string[] {
  const places = placesOf(operation);
  const mixed = places.flatMap((foreignPlace) =>
    (other.ids.get(foreignPlace) ?? []).map((value) =>
      fillPath(operation.path, (place) =>
        place === foreignPlace ? value : own.ids.get(place)?.[0],
      ),
    ),
  );
  const whole = fillPath(operation.path, (place) => other.ids.get(place)?.at(-1));
  return [...new Set([...mixed, whole])];
}

test.each(walk.filter(({ operation }) => placesOf(operation).length > 0))(
  "$title: a record of another workspace is not found (P30, AUTH-011)",
  async ({ operation, role, isOpen }) => {
    for (const path of pathsWith(operation, foreign)) {
      const body = operation.method === "GET" ? undefined : {};
      const answer = await world.call(operation.method, path, own.keys[role], body);
      expect([path, answer.status]).toEqual([path, isOpen ? 404 : 403]);
      expect(answer.text).not.toContain(foreign.word);
    }
  },
);

/** Paths that accounts may see of each other: public offers and their parts are open to every partner. */
const SHARED: Partial<Record<Role, RegExp>> = { partner: /^\/(offers|creatives)\// };

test.each(
  walk.filter(
    ({ operation, role, isOpen }) =>
      isOpen &&
      placesOf(operation).length > 0 &&
      (role === "partner" || role === "advertiser") &&
      SHARED[role]?.test(operation.path) !== true,
  ),
)(
  "$title: a record of another account is not found (P30, VIS-030, VIS-036, VIS-040)",
  async ({ operation, role }) => {
    for (const path of pathsWith(operation, rival)) {
      const body = operation.method === "GET" ? undefined : {};
      const answer = await world.call(operation.method, path, own.keys[role], body);
      expect([path, answer.status]).toEqual([path, 404]);
      expect(answer.text).not.toContain(rival.word);
    }
  },
);

/** Required parameters of some lists and reports. */
const QUERIES: Readonly<Record<string, string>> = {
  "/reports": "?preset=today&group_by=offer,affiliate",
  "/reports/timeseries": "?preset=today&interval=day",
  "/clicks": "?preset=today",
  "/conversions": "?preset=today",
  "/files/{id}": "?format=json",
  "/payout-runs/{id}/export": "?format=csv",
};

test.each(walk.filter(({ operation, isOpen }) => operation.method === "GET" && isOpen))(
  "$title: shows no hidden field at any depth, and nothing of other accounts (P30, VIS-058)",
  async ({ operation, role }) => {
    const idOf = (place: string): string | undefined =>
      (own.ids.get(ofRole(place, role)) ?? own.ids.get(place))?.[0];
    const path = fillPath(operation.path, idOf);
    const answer = await world.call("GET", `${path}${queryOf(operation, role)}`, own.keys[role]);
    expect([path, answer.status]).toEqual([path, 200]);
    expect(hiddenIn(operation, role, answer.body)).toEqual([]);
    const never = isAccount(role) ? neverShown(role) : new Set<string>();
    const named = keysOf(answer.body).filter((key) => never.has(key));
    expect(
      named.filter((key) => !isAnonymous(operation, role) || key !== "affiliate_label"),
    ).toEqual([]);
    const words = wordsNotFor(operation, role);
    expect(words.filter((word) => answer.text.includes(word))).toEqual([]);
  },
);

/** Paths with records that every partner may see, such as public offers. */
const OF_OFFERS = /^\/(offers|deals|product-feeds)/;

function queryOf({ path }: Operation, role: Role): string {
  if (path !== "/tracking-link") return QUERIES[path] ?? "";
  const offer = `?offer=${own.names.offerId}`;
  return role === "partner"
    ? offer
    : `${offer}&affiliate=${own.ids.get("affiliates/{id}")?.[1] ?? ""}`;
}

function isAccount(role: Role): boolean {
  return role === "partner" || role === "advertiser";
}

/** In reports for advertisers, partners are numbers without names (G85). */
function isAnonymous({ path }: Operation, role: Role): boolean {
  return role === "advertiser" && path === "/reports";
}

/** The words of other accounts that an answer must not contain. */
function wordsNotFor(operation: Operation, role: Role): string[] {
  const { path } = operation;
  const isShared = !isAccount(role) || (role === "partner" && OF_OFFERS.test(path));
  return [
    // The audit log records the paths that the tests above have requested.
    ...(path === "/audit-log" ? [] : [foreign.word]),
    ...(isShared ? [] : [rival.word]),
    ...(isAnonymous(operation, role) ? [own.word] : []),
  ];
}

test("the visibility table hides fields from partners and advertisers, so the tests check something", () => {
  expect([...neverShown("partner")]).toEqual(
    expect.arrayContaining([
      "revenue",
      "advertiser_id",
      "adv_txid",
      "conv_ip",
      "ip",
      "destination_url",
    ]),
  );
  expect([...neverShown("advertiser")]).toEqual(
    expect.arrayContaining([
      "payout",
      "affiliate_name",
      "sub1",
      "source_id",
      "ip",
      "smart_link_id",
    ]),
  );
});

test("a partner's postback made by staff reveals no value of a staff macro to the partner (P30, #15)", async () => {
  const admin = own.keys.admin;
  const body = {
    offer_id: own.names.offerId,
    affiliate_id: own.names.affiliateId,
    url: "https://partner.example/?t={txid}",
    method: "POST",
    body: "{ip} {adv1}",
  };
  const made = await world.call("POST", "/postbacks", admin, body);
  const { id } = Made.parse(made.body).data;
  const path = `/postbacks/${id}`;
  const moved = { url: "https://elsewhere.example/" };
  expect((await world.call("PATCH", path, own.keys.partner, moved)).status).toBe(403);
  expect((await world.call("DELETE", path, own.keys.partner)).status).toBe(403);
  await world.call("POST", "/conversions", admin, {
    offer_id: own.names.offerId,
    affiliate_id: own.names.affiliateId,
    adv_txid: "hidden-order",
  });
  await until("the delivery was tried", async () =>
    (await world.call("GET", `${path}/deliveries`, admin)).text.includes("hidden-order"),
  );
  const seen = await world.call("GET", `${path}/deliveries`, own.keys.partner);
  expect(seen.status).toBe(200);
  expect(seen.text).toContain('"trigger"');
  expect(seen.text).not.toContain("hidden-order");
});

/** Parameters and fields that name a record, with the path parameter that stands for the same record. */
const NAMED: Readonly<Record<string, string>> = {
  offer_id: "offers/{id}",
  affiliate_id: "affiliates/{id}",
  advertiser_id: "advertisers/{id}",
  domain_id: "tracking-domains/{id}",
  smart_link_id: "smart-links/{id}",
  key_id: "keys/{id}",
  click_id: "clicks/{click_id}",
  conversion_id: "conversions/{id}",
};
const Listed = z.looseObject({ data: z.array(z.unknown()) });

/** The result of a filter. A series always has all its points: if every figure is zero, it counts as empty. */
function foundBy({ path }: Operation, { status, body }: DescribedAnswer): string {
  if (status !== 200) return String(status);
  const { data } = Listed.parse(body);
  const isOfZeros =
    path === "/reports/timeseries" && !/[1-9]/.test(JSON.stringify(data.map(valuesOf)));
  return `200 ${JSON.stringify(isOfZeros ? [] : data)}`;
}

/** The figures of a point of a series, without its time. */
function valuesOf(point: unknown): unknown[] {
  const { ts: _ts, time: _time, date: _date, bucket: _bucket, ...figures } = asObject(point);
  return Object.values(figures);
}

test.each(
  walk.filter(({ operation, isOpen }) => isOpen && operation.input.query instanceof z.ZodObject),
)(
  "$title: a filter by a record of another workspace finds nothing (P30)",
  async ({ operation, role }) => {
    const query =
      operation.input.query instanceof z.ZodObject ? Object.keys(operation.input.query.shape) : [];
    const path = fillPath(operation.path, (place) => own.ids.get(place)?.[0]);
    for (const name of query) {
      const [value] = foreign.ids.get(NAMED[name] ?? "") ?? [];
      if (value === undefined) continue;
      const answer = await world.call("GET", `${path}?${name}=${value}`, own.keys[role]);
      expect(answer.text).not.toContain(foreign.word);
      expect(["200 []", "400", "403", "404"]).toContain(foundBy(operation, answer));
    }
  },
);

test.each(Object.entries(BODIES).filter(([path]) => creators.some((one) => one.path === path)))(
  "POST %s: a record of another workspace cannot be referred to (P30)",
  async (path, bodyOf) => {
    const body = bodyOf({ ...own.names, word: "crossword" });
    const target = fillPath(path, (place) => own.ids.get(place)?.[0]);
    for (const name of Object.keys(body)) {
      const [value] = foreign.ids.get(NAMED[name] ?? "") ?? [];
      if (value === undefined) continue;
      const reference = typeof body[name] === "number" ? Number(value) : value;
      const answer = await world.call("POST", target, own.keys.admin, {
        ...body,
        [name]: reference,
      });
      const expected = [name, 400, expect.stringContaining(name)];
      expect([name, answer.status, answer.text]).toEqual(expected);
      expect(answer.text).not.toContain(foreign.word);
    }
  },
);

test("an ad cost cannot refer to an offer or a partner of another workspace (P30)", async () => {
  const answer = await world.call("POST", "/ad-costs", own.keys.admin, adCostsOf(foreign.names));
  expect(answer.body).toMatchObject({
    data: {
      inserted: 0,
      updated: 0,
      rejected: [
        { row: 1, fields: { offer_id: "no such offer", affiliate_id: "no such affiliate" } },
      ],
    },
  });
});

test("a bulk change reaches no conversion of another workspace (P30)", async () => {
  const ids = foreign.ids.get("conversions/{id}");
  const answer = await world.call("PATCH", "/conversions", own.keys.admin, {
    ids,
    status: "rejected",
  });
  expect(answer.body).toEqual({ data: { updated: [], not_found: ids, skipped_duplicates: 0 } });
});

test.each(["partner", "advertiser"] as const)(
  "the CSV of a %s's report has no column that the role does not see (P30, VIS-051)",
  async (role) => {
    const answer = await world.call(
      "GET",
      "/reports?preset=today&group_by=offer&format=csv",
      own.keys[role],
    );
    const [head = ""] = answer.text.split("\n", 1);
    expect(answer.status).toBe(200);
    expect(head.toLowerCase()).not.toMatch(
      role === "partner" ? /revenue|profit|margin/ : /payout|profit|margin/,
    );
    expect(answer.text).not.toContain(rival.word);
    expect(answer.text).not.toContain(foreign.word);
  },
);

function expectNothing(looked: Looked, countMin: number): void {
  expect(looked.length).toBeGreaterThan(countMin);
  expect(looked.filter(({ found }) => found.length > 0)).toEqual([]);
}

// The walks above have called every operation with keys and sessions. test/deep/promises/p31 also kills processes meanwhile.
test("tables, logs and message subjects have no secret and no personal data (P31, #24)", async () => {
  await sendCanaries(world);
  expectNothing(await keysInTables(world), 20);
  expectNothing(await canariesInLogs(world), 4);
  expectNothing(subjects.looked(), 5);
});
