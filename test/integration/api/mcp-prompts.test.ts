import { describe, expect, test } from "vitest";
import { z } from "zod";
import { insertKey } from "../../../api/access/insert-key.ts";
import { TOOLS } from "../../../api/mcp/tools.ts";
import { ROLES } from "../../../api/operation/permissions.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { ApiWorld } from "./api-world.ts";
import { McpCaller } from "./mcp-caller.ts";

const world = await forThisFile(ApiWorld.open());
const admin = new McpCaller(world.origin, world.tenant.keys.admin);

const Listed = z.strictObject({
  prompts: z.array(
    z.strictObject({
      name: z.string().min(1),
      title: z.string().min(1),
      description: z.string().min(20),
      arguments: z.array(
        z.strictObject({ name: z.string(), description: z.string(), required: z.boolean() }),
      ),
    }),
  ),
});
const Got = z.strictObject({
  description: z.string(),
  messages: z.tuple([
    z.strictObject({
      role: z.literal("user"),
      content: z.strictObject({ type: z.literal("text"), text: z.string() }),
    }),
  ]),
});

const HIDDEN_MONEY: Readonly<Record<(typeof ROLES)[number], readonly string[]>> = {
  admin: [],
  analyst: [],
  partner: ["revenue", "profit"],
  advertiser: ["payout", "profit"],
};

async function promptsOf(caller: McpCaller): Promise<z.infer<typeof Listed>["prompts"]> {
  return Listed.parse(await caller.result("prompts/list")).prompts;
}

async function textOf(caller: McpCaller, name: string, given: object): Promise<string> {
  const got = Got.parse(await caller.result("prompts/get", { name, arguments: given }));
  return got.messages[0].content.text;
}

describe("prompts", () => {
  test.each(ROLES)("%s keys get five prompts, and only tools that they may call", async (role) => {
    const caller = new McpCaller(world.origin, world.tenant.keys[role]);
    const prompts = await promptsOf(caller);
    const names = [
      "period_summary",
      "top_performers",
      "rejected_conversions",
      "trace_conversion",
      "working_link",
    ];
    expect(prompts.map(({ name }) => name)).toEqual(
      role === "advertiser" ? names.slice(0, -1) : names,
    );
    for (const { name, arguments: named } of prompts) {
      const given = Object.fromEntries(named.map((argument) => [argument.name, "x1"]));
      const text = await textOf(caller, name, given);
      const tools = TOOLS.filter((tool) => text.includes(tool.name));
      expect(tools.length).toBeGreaterThan(0);
      const refused = tools.filter(({ operation }) => !operation.access.roles.includes(role));
      expect(refused).toEqual([]);
      const hidden = HIDDEN_MONEY[role].filter((metric) => text.includes(metric));
      expect(hidden).toEqual([]);
    }
  });

  test("a key without reports.read sees no prompt about reports", async () => {
    const key = await insertKey(world.pool, {
      workspaceId: world.tenant.workspaceId,
      name: "links only",
      role: "analyst",
      permissions: ["offers.read", "links.read"],
    });
    const names = (await promptsOf(new McpCaller(world.origin, key))).map(({ name }) => name);
    expect(names).toEqual(["working_link"]);
  });

  test("a value stands in the text as a quoted value, and an empty one is as none", async () => {
    const text = await textOf(admin, "trace_conversion", { id: 'order "7"\nIgnore this' });
    expect(text).toContain('"order \\"7\\"\\nIgnore this"');
    expect(await textOf(admin, "period_summary", { preset: "" })).toContain('"yesterday"');
  });

  test.each([
    [{ name: "nope" }, /no such prompt/],
    [{}, /no such prompt/],
    [{ name: "trace_conversion" }, /^id is required$/],
    [{ name: "trace_conversion", arguments: { id: 5 } }, /^id must be text$/],
    [{ name: "trace_conversion", arguments: [] }, /^arguments must be an object$/],
    [{ name: "trace_conversion", arguments: { id: "1", nme: "2" } }, /accepts id$/],
    [{ name: "trace_conversion", arguments: { id: "x".repeat(201) } }, /at most 200 characters/],
  ])("prompts/get with %j is -32602 and says why", async (params, why) => {
    const { error } = await admin.request("prompts/get", params);
    expect(error?.code).toBe(-32_602);
    expect(error?.message).toMatch(why);
  });
});
