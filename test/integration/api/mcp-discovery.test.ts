import { expect, test } from "vitest";
import { z } from "zod";
import { forThisFile } from "../../services/for-this-file.ts";
import { API_URL, ApiWorld } from "./api-world.ts";
import { McpCaller, rpcAnswer, rpcAnswers } from "./mcp-caller.ts";

const world = await forThisFile(ApiWorld.open());
const { admin: key } = world.tenant.keys;
const Metadata = z.strictObject({
  resource: z.url(),
  resource_name: z.string(),
  resource_documentation: z.url(),
  bearer_methods_supported: z.tuple([z.literal("header")]),
});

test("a client without a key is led to the metadata, which names the MCP address (RFC 9728)", async () => {
  const refused = await fetch(`${world.origin}/mcp`, { method: "POST", body: "{}" });
  await refused.arrayBuffer();
  expect(refused.status).toBe(401);
  const challenge = refused.headers.get("www-authenticate") ?? "";
  const address = /^Bearer resource_metadata="([^"]+)"$/.exec(challenge)?.[1] ?? "";
  const path = new URL(address).pathname;
  expect(path).toBe("/.well-known/oauth-protected-resource/mcp");
  for (const asked of [path, "/.well-known/oauth-protected-resource"]) {
    const answer = await fetch(`${world.origin}${asked}`);
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toMatch(/^application\/json/);
    const { resource } = Metadata.parse(await answer.json());
    expect(new URL(resource).pathname).toBe("/mcp");
    expect(new URL(resource).origin).toBe(new URL(address).origin);
  }
});

test("the challenge of REST names the scheme only", async () => {
  const refused = await fetch(`${world.origin}/api/v1/me`);
  await refused.arrayBuffer();
  expect([refused.status, refused.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
});

const PING = { jsonrpc: "2.0", id: 1, method: "ping" };

test("a page of another origin is 403, whatever its method and key (MCP-040, G214, #35)", async () => {
  const origin = await world.startAnother({ mcpOrigins: ["vscode-webview://trusted"] });
  const call = async (method: string, headers: Readonly<Record<string, string>>) => {
    const body = method === "POST" ? JSON.stringify(PING) : null;
    const answer = await fetch(`${origin}/mcp`, { method, headers, body });
    return { status: answer.status, text: await answer.text() };
  };
  const authorization = `Bearer ${key}`;
  for (const foreign of ["https://evil.example", "null", "https://api.example:8443", origin]) {
    for (const headers of [{ authorization }, { authorization: "Bearer x" }, {}]) {
      for (const method of ["POST", "GET", "OPTIONS"]) {
        const { status, text } = await call(method, { ...headers, origin: foreign });
        expect([foreign, method, status]).toEqual([foreign, method, 403]);
        expect(rpcAnswer({ text })).toMatchObject({ id: null, error: { code: -32_001 } });
      }
    }
  }
  for (const own of [{ origin: API_URL }, { origin: "vscode-webview://trusted" }, {}])
    expect((await call("POST", { authorization, ...own })).status).toBe(200);
});

test("messages that are too deep or too many, and long values, are refused by name (G213, #35)", async () => {
  const admin = new McpCaller(world.origin, key);
  const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
  for (const [raw, why] of [
    [
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"arguments":${deep}}}`,
      "levels deep",
    ],
    [`[${Array.from({ length: 20 }, () => `{"x":[${"1,".repeat(5_000)}1]}`).join(",")}]`, "values"],
  ] as const) {
    const answer = await admin.post(undefined, { raw });
    expect(answer.status).toBe(400);
    expect(rpcAnswer(answer)).toMatchObject({ id: null, error: { code: -32_600 } });
    expect(rpcAnswer(answer).error?.message).toContain(why);
  }
  const long = "a,".repeat(100_000);
  for (const given of [{ metrics: [long] }, { params: { filters: long } }])
    expect(await admin.refusal("run_report", given)).toContain("at most 16000 characters");
  expect((await admin.refusal("whoami", { [long]: 1 })).length).toBeLessThan(200);
  const named = await admin.post([
    { ...PING, id: "i".repeat(201) },
    { ...PING, id: "i".repeat(200) },
  ]);
  expect(rpcAnswers(named).map(({ id, error }) => [String(id).length, error?.code])).toEqual([
    ["null".length, -32_600],
    [200, undefined],
  ]);
});
