import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { insertKey } from "../../../api/access/insert-key.ts";
import { ROLES, type Role } from "../../../api/operation/permissions.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { ApiWorld, record, type Tenant } from "../api/api-world.ts";
import { McpCaller } from "../api/mcp-caller.ts";
import { adjust, switchOn } from "./billing-world.ts";
import { approvedStatement } from "./statement-rows.ts";

const STAFF = ["balances", "statements", "payout-runs"];
const STAFF_ONE = ["statements/{id}", "payout-runs/{id}"];
const PARTNER = ["me/earnings", "me/statements"];
const PARTNER_ONE = ["me/statements/{id}"];
const MONEY = [...STAFF, ...STAFF_ONE, ...PARTNER, ...PARTNER_ONE];
const SHOWN: Readonly<Record<Role, { readonly listed: string[]; readonly one: string[] }>> = {
  admin: { listed: STAFF, one: STAFF_ONE },
  analyst: { listed: STAFF, one: STAFF_ONE },
  partner: { listed: PARTNER, one: PARTNER_ONE },
  advertiser: { listed: [], one: [] },
};
const PROMPT = "what_do_we_owe";

const world = await forThisFile(ApiWorld.open());
const foreign = await world.addTenant("foreign");
const off = await world.addTenant("off");
const { workspaceId, affiliateId, keys } = world.tenant;
let own: Records;
let other: Records;

type Records = { readonly statement: number; readonly run: number };

beforeAll(async () => {
  own = await fill(world.tenant);
  other = await fill(foreign);
});

/** A statement that a run has, and money in a second currency. */
async function fill(tenant: Tenant): Promise<Records> {
  const { admin } = tenant.keys;
  await switchOn(world, tenant);
  const fields = { affiliate_id: tenant.affiliateId };
  expect((await adjust(world, { ...fields, amount: "7.5" }, { key: admin })).status).toBe(201);
  const statement = await approvedStatement(world, {
    affiliateId: tenant.affiliateId,
    amount: "1840.5500",
    tenant,
  });
  const body = { currency: "EUR", execution_date: "2026-12-15" };
  const run = record(await world.post("/payout-runs", body, admin));
  return { statement, run: Number(run.id) };
}

const clients: Client[] = [];
afterAll(async () => {
  for (const client of clients) await client.close();
});

async function connect(key: string): Promise<Client> {
  const client = new Client({ name: "assistant", version: "1.0.0" });
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${world.origin}/mcp`), {
      requestInit: { headers: { Authorization: `Bearer ${key}` } },
    }),
  );
  clients.push(client);
  return client;
}

const Contents = z.tuple([
  z.looseObject({ mimeType: z.literal("application/json"), text: z.string() }),
]);

async function read(client: Client, path: string): Promise<unknown> {
  const { contents } = await client.readResource({ uri: `tracker://${path}` });
  return JSON.parse(Contents.parse(contents)[0].text);
}

/** What the client is shown of money: addresses, forms of addresses, and whether the prompt is among them. */
async function shown(client: Client): Promise<readonly [string[], string[], boolean]> {
  const { resources } = await client.listResources();
  const { resourceTemplates } = await client.listResourceTemplates();
  const { prompts } = await client.listPrompts();
  const ofMoney = (uris: string[]) =>
    uris
      .map((uri) => uri.replace("tracker://", "").replace(/\{\?.*$/, ""))
      .filter((path) => MONEY.includes(path));
  return [
    ofMoney(resources.map(({ uri }) => uri)),
    ofMoney(resourceTemplates.map(({ uriTemplate }) => uriTemplate)),
    prompts.some(({ name }) => name === PROMPT),
  ];
}

describe.each(ROLES)("a client with the key of %s", (role) => {
  test("is shown the money that it may read, and none while billing is off (MCP-042)", async () => {
    const { listed, one } = SHOWN[role];
    const [resources, templates, hasPrompt] = await shown(await connect(keys[role]));
    expect(resources).toEqual(listed);
    expect(templates.toSorted()).toEqual([...listed, ...one].toSorted());
    expect(hasPrompt).toBe(listed.length > 0);
    expect(await shown(await connect(off.keys[role]))).toEqual([[], [], false]);
  });

  test("reads what REST answers to the same key, and is refused the rest (MCP-041, MCP-035)", async () => {
    const client = await connect(keys[role]);
    const rest = new McpCaller(world.origin, keys[role]);
    const { listed, one } = SHOWN[role];
    for (const form of MONEY) {
      const id = form.startsWith("payout-runs") ? own.run : own.statement;
      const path = form.replace("{id}", String(id));
      const isOpen = [...listed, ...one].includes(form);
      const answer = await read(client, path).catch((error: unknown) => String(error));
      const wanted: unknown = isOpen ? await rest.rest(`/${path}`) : REFUSED;
      expect(answer, path).toEqual(wanted);
    }
    expect((await client.listTools()).tools).toHaveLength(10);
  });

  test("finds nothing of another tenant or another partner (MCP-041, AUTH-011)", async () => {
    const client = await connect(keys[role]);
    for (const form of [...SHOWN[role].one]) {
      const id = form.startsWith("payout-runs") ? other.run : other.statement;
      await expect(read(client, form.replace("{id}", String(id)))).rejects.toMatchObject({
        message: NOT_FOUND,
      });
    }
    const { id: stranger } = record(await world.post("/affiliates", { name: "Stranger" }));
    const theirs = await approvedStatement(world, { affiliateId: Number(stranger), amount: "3" });
    if (role !== "partner") return;
    await expect(read(client, `me/statements/${theirs}`)).rejects.toMatchObject({
      message: NOT_FOUND,
    });
    expect(JSON.stringify(await read(client, "me/statements"))).not.toContain("Stranger");
  });
});

const REFUSED: unknown = expect.stringMatching(/forbidden: /);
const NOT_FOUND: unknown = expect.stringContaining("not_found");
const INVALID: unknown = expect.stringContaining("invalid_parameter");

test("parameters, pages and bounds are those of REST; other forms of a document are refused (MCP-041)", async () => {
  const client = await connect(keys.analyst);
  const rest = new McpCaller(world.origin, keys.analyst);
  for (const path of [
    `balances?owner_id=${affiliateId}&currency=USD`,
    "balances?kind=advertiser",
    "statements?status=in_payout",
    "statements?due_until=2026-01-31&limit=1",
    "payout-runs?status=draft&currency=EUR",
  ])
    expect(await read(client, path), path).toEqual(await rest.rest(`/${path}`));
  const Page = z.looseObject({ data: z.array(z.looseObject({})), next_cursor: z.string() });
  const first = Page.parse(await read(client, `balances?owner_id=${affiliateId}&limit=1`));
  const second = `balances?owner_id=${affiliateId}&limit=1&cursor=${first.next_cursor}`;
  expect(await read(client, second)).toMatchObject({ data: [{ currency: "USD" }] });
  for (const path of [
    "balances?limit=201",
    "balances?format=csv",
    "balances?format=json",
    "balances?bom=1",
    "statements?status=lost",
    "statements?status=draft&status=paid",
    "statements?nme=1",
    `statements/${own.statement}?limit=1`,
  ])
    await expect(read(client, path)).rejects.toMatchObject({
      code: -32_602,
      message: INVALID,
    });
  for (const path of ["statements/7/lines", "me", "me/earnings/7", "payout-runs//", "ledger"])
    await expect(read(client, path)).rejects.toMatchObject({ code: -32_002 });
  for (const path of ["statements/x", "statements/0", "statements/%zz", "payout-runs/99999999999"])
    await expect(read(client, path)).rejects.toMatchObject({
      message: NOT_FOUND,
    });
});

test("a staff key that is narrowed to some permissions is shown no money and reads none (MCP-042)", async () => {
  const narrowed = await insertKey(world.pool, {
    workspaceId,
    name: "reports only",
    role: "admin",
    permissions: ["reports.read", "affiliates.read"],
  });
  const client = await connect(narrowed);
  expect(await shown(client)).toEqual([[], [], false]);
  for (const path of STAFF)
    await expect(read(client, path)).rejects.toMatchObject({ message: REFUSED });
});

describe("the prompt", () => {
  test.each(["admin", "analyst", "partner"] as const)(
    "names resources that a key of %s may read, and every stage of money (MCP-043)",
    async (role) => {
      const client = await connect(keys[role]);
      const { messages } = await client.getPrompt({ name: PROMPT, arguments: {} });
      const text = z.object({ text: z.string() }).parse(messages[0]?.content).text;
      const named = [...text.matchAll(/tracker:\/\/([a-z/-]+(?:\{id\})?)/g)].map(
        ([, path]) => path,
      );
      const { listed, one } = SHOWN[role];
      expect(named.filter((path) => ![...listed, ...one].includes(path ?? ""))).toEqual([]);
      expect(listed.filter((path) => !named.includes(path))).toEqual([]);
      for (const stage of ["pending", "unbilled", "statements", "in payout", "paid", "due_on"])
        expect(text).toContain(stage);
      expect(text).toContain("never add amounts of different currencies");
    },
  );

  test("takes one currency as a quoted value; who may not ask it has no such prompt (MCP-043)", async () => {
    const admin = await connect(keys.admin);
    const given = { name: PROMPT, arguments: { currency: 'EUR" and all' } };
    expect(JSON.stringify(await admin.getPrompt(given))).toContain(
      JSON.stringify('in the currency "EUR\\" and all"?').slice(1, -1),
    );
    for (const key of [keys.advertiser, off.keys.admin])
      await expect((await connect(key)).getPrompt({ name: PROMPT })).rejects.toMatchObject({
        code: -32_602,
      });
  });

  test("is one question a key: no name is listed twice (MCP-043)", async () => {
    for (const role of ROLES) {
      const { prompts } = await (await connect(keys[role])).listPrompts();
      const names = prompts.map(({ name }) => name);
      expect(names).toEqual([...new Set(names)]);
    }
  });
});
