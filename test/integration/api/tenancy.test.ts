import { afterAll, beforeAll, expect, test } from "vitest";
import { ROLES, type Role } from "../../../api/access/permissions.ts";
import { VISIBILITY } from "../../../api/access/visibility-table.ts";
import type { Operation } from "../../../api/operation.ts";
import { operations } from "../../../api/operations.ts";
import { ApiWorld, type Json, record, type Tenant } from "./api-world.ts";

let world: ApiWorld;
let foreign: Tenant;
/** What a path of another workspace would hold, by the tag of its operation. */
let foreignIds: Record<string, string[]>;
let ownIds: Record<string, string[]>;

const SECRET = "foreign-secret-word";

beforeAll(async () => {
  world = await ApiWorld.open();
  await world.startProcessor();
  foreign = await world.addTenant("second");
  ownIds = await fill(world.tenant, "own");
  foreignIds = await fill(foreign, SECRET);
});
afterAll(async () => {
  await world.close();
});

/** One of everything; answers ids and codes of it. */
async function fill(tenant: Tenant, word: string): Promise<Record<string, string[]>> {
  const { admin } = tenant.keys;
  const offer = await world.offer(
    {
      name: word,
      advertiser_id: tenant.advertiserId,
      caps: { payout: { total: "9" } },
      description: word,
    },
    admin,
  );
  const affiliate = record(
    await world.post("/affiliates", { name: word, payment_details: { wire: word } }, admin),
  );
  const advertiser = record(await world.post("/advertisers", { name: word }, admin));
  const body: Json = {
    offer_id: offer.id,
    affiliate_id: tenant.affiliateId,
    notes: word,
    sub1: word,
  };
  const conversion = record(await world.post("/conversions", body, admin));
  return {
    Offers: [String(offer.id), String(offer["code"])],
    Affiliates: [String(affiliate.id), String(affiliate["code"])],
    Advertisers: [String(advertiser.id)],
    Conversions: [String(conversion.id)],
  };
}

const reached = operations.filter(({ tag }) =>
  ["Offers", "Affiliates", "Advertisers", "Conversions", "Account"].includes(tag),
);
const cases = reached.flatMap((operation) =>
  ROLES.map((role): [string, Role, Operation] => [
    `${operation.method} ${operation.path}`,
    role,
    operation,
  ]),
);

test("there is something to walk over", () => {
  expect(reached.length).toBeGreaterThan(15);
});

test.each(cases)(
  "%s as %s: ids of another workspace are not there, and nothing of it is told (P30, AUTH-011)",
  async (_name, role, operation) => {
    const key = world.tenant.keys[role];
    const ids = operation.path.includes("{id}") ? (foreignIds[operation.tag] ?? []) : [""];
    expect(ids.length).toBeGreaterThan(0);
    for (const id of ids) {
      const path = operation.path.replace("{id}", id).replace("{affiliate}", foreign.affiliateCode);
      const body =
        operation.input.body === undefined
          ? undefined
          : { status: "approved", ids: foreignIds["Conversions"] };
      const answer = await world.call(operation.method, path, { key, body });
      const refused = operation.access.roles.includes(role) ? 404 : 403;
      expect(answer.status, path).toBe(operation.path.includes("{id}") ? refused : answer.status);
      expect(JSON.stringify(answer.body)).not.toContain(SECRET);
    }
  },
);

test("a bulk change reaches no conversion of another workspace", async () => {
  const { body } = await world.patch("/conversions", {
    ids: foreignIds["Conversions"],
    status: "rejected",
  });
  expect(body["data"]).toEqual({
    updated: [],
    not_found: foreignIds["Conversions"],
    skipped_duplicates: 0,
  });
});

/** Every key of a JSON value, at any depth. */
function keysOf(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  if (Array.isArray(value)) return value.flatMap(keysOf);
  return Object.entries(value).flatMap(([key, inner]) => [key, ...keysOf(inner)]);
}

const SHOWN = [
  ["/offers", "offer"],
  ["/affiliates", "affiliate"],
  ["/advertisers", "advertiser"],
  ["/conversions", "conversion"],
] as const;

test.each(
  SHOWN.flatMap(([path, resource]) => ROLES.map((role) => [path, role, resource] as const)),
)("GET %s as %s has no hidden field at any depth (P30, VIS-058)", async (path, role, resource) => {
  const hidden: Partial<Record<Role, readonly string[]>> = VISIBILITY[resource].hidden;
  const ids = ownIds[`${path.slice(1, 2).toUpperCase()}${path.slice(2)}`] ?? [];
  for (const target of [path, ...ids.map((id) => `${path}/${id}`)]) {
    const answer = await world.get(target, world.tenant.keys[role]);
    if (answer.status === 403) continue;
    const keys = new Set(keysOf(answer.body));
    expect(keys.has("id")).toBe(true);
    for (const field of hidden[role] ?? [])
      expect([target, field, keys.has(field)]).toEqual([target, field, false]);
  }
});
