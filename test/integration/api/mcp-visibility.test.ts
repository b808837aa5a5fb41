import { expect, test } from "vitest";
import { VISIBILITY } from "../../../api/access/visibility-table.ts";
import { TOOLS } from "../../../api/mcp/tools.ts";
import { ROLES, type Role } from "../../../api/operation/permissions.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { ApiWorld, type Json, record, type Tenant } from "./api-world.ts";
import { McpCaller } from "./mcp-caller.ts";
import { McpOutputs } from "./mcp-outputs.ts";

const SECRET = "foreign-secret-word";

/** Ids and codes that an argument may name. */
type Named = {
  readonly offers: unknown[];
  readonly affiliates: unknown[];
  readonly conversions: unknown[];
};

const world = await forThisFile(ApiWorld.open());
await world.startProcessor();
const own = await fill(world.tenant, "own");
const foreign = await fill(await world.addTenant("second"), SECRET);

/** Creates one of each record that tools read from Postgres, with a value in every field that a role may not see. */
async function fill(tenant: Tenant, word: string): Promise<Named> {
  const { admin } = tenant.keys;
  const terms = { caps: { payout: { total: "9" }, revenue: { total: "9" } }, description: word };
  const offer = await world.offer(
    { name: word, advertiser_id: tenant.advertiserId, ...terms },
    admin,
  );
  const { affiliateId, affiliateCode } = tenant;
  const details = { name: word, notes: word, payment_details: { wire: word } };
  record(await world.patch(`/affiliates/${affiliateId}`, details, admin));
  const body = { offer_id: offer.id, affiliate_id: affiliateId, notes: word, adv_txid: word };
  const conversion = record(await world.post("/conversions", body, admin));
  await world.post("/tracking-domains", { host: `${word}.example`, is_default: true }, admin);
  return {
    offers: [offer.id, offer["code"]],
    affiliates: [affiliateId, affiliateCode],
    conversions: [conversion.id],
  };
}

/** Calls of each tool, and the resource in its answer. mcp-reports.test.ts has reports and clicks. */
const CALLS: Readonly<
  Record<string, { resource?: keyof typeof VISIBILITY; calls: (named: Named) => Json[] }>
> = {
  whoami: { calls: () => [{}] },
  list_offers: { resource: "offer", calls: () => [{}, { q: SECRET }] },
  get_offer: { resource: "offer", calls: ({ offers }) => offers.map((id) => ({ id })) },
  list_affiliates: { resource: "affiliate", calls: () => [{}, { q: SECRET }] },
  get_affiliate: {
    resource: "affiliate",
    calls: ({ affiliates }) => affiliates.map((id) => ({ id })),
  },
  list_conversions: { resource: "conversion", calls: () => [{}] },
  get_conversion: {
    resource: "conversion",
    calls: ({ conversions }) => conversions.map((id) => ({ id })),
  },
  tracking_link: {
    calls: ({ offers, affiliates }) =>
      offers.flatMap((offer) => affiliates.map((affiliate) => ({ offer, affiliate }))),
  },
};

const cases = Object.keys(CALLS).flatMap((name) =>
  ROLES.map((role): [string, Role] => [name, role]),
);

test("every tool is tested here or with the reports", () => {
  const named = [...Object.keys(CALLS), "run_report", "lookup_clicks"];
  expect(named.toSorted()).toEqual(TOOLS.map(({ name }) => name).toSorted());
});

test.each(cases)(
  "%s as %s shows no hidden field at any depth (P30, MCP-035, AUTH-017, VIS-057, VIS-058, T29)",
  async (name, role) => {
    const { resource, calls } = CALLS[name] ?? { calls: () => [] };
    const answers = await Promise.all(
      calls(own).map(async (given) => await callerOf(role).tool(name, given)),
    );
    const outputs = await McpOutputs.of(callerOf(role));
    expect(answers.flatMap((answer) => outputs.faults(name, answer))).toEqual([]);
    const access = TOOLS.find((tool) => tool.name === name)?.operation.access;
    const refusals = answers.filter(({ isError }) => isError).map(({ text }) => text.split(":")[0]);
    const isOpen = access?.roles.includes(role) === true;
    expect(refusals).toEqual(isOpen ? [] : answers.map(() => "forbidden"));
    const keys = new Set(answers.flatMap(({ body }) => keysOf(body)));
    expect(keys.has("id")).toBe(isOpen);
    expect(hiddenFrom(role, resource).filter((field) => keys.has(field))).toEqual([]);
  },
);

test.each(cases)(
  "%s as %s: records of another workspace are not found, and nothing of them is shown (P30, AUTH-011)",
  async (name, role) => {
    for (const given of CALLS[name]?.calls(foreign) ?? []) {
      const { isError, text } = await callerOf(role).tool(name, given);
      expect(text).not.toContain(SECRET);
      const isNamed = Object.keys(given).some((argument) => argument !== "q");
      const isRefused = isError && /^(?:not_found|forbidden): /.test(text);
      expect([given, isRefused || !isNamed]).toEqual([given, true]);
    }
  },
);

function callerOf(role: Role): McpCaller {
  return new McpCaller(world.origin, world.tenant.keys[role]);
}

function hiddenFrom(role: Role, resource: keyof typeof VISIBILITY | undefined): readonly string[] {
  if (resource === undefined) return [];
  const hidden: Partial<Record<Role, readonly string[]>> = VISIBILITY[resource].hidden;
  return hidden[role] ?? [];
}

/** Every key of a JSON value, at any depth. */
function keysOf(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  if (Array.isArray(value)) return value.flatMap(keysOf);
  return Object.entries(value).flatMap(([key, inner]) => [key, ...keysOf(inner)]);
}
