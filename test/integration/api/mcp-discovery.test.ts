import { expect, test } from "vitest";
import { z } from "zod";
import { forThisFile } from "../../services/for-this-file.ts";
import { ApiWorld } from "./api-world.ts";

const world = await forThisFile(ApiWorld.open());
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
