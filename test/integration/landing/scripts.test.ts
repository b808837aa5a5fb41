import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { z } from "zod";
import { servedScript } from "../../../ingress/routes/landing-script.ts";
import { projectFile } from "../../../schemas/host/project-root.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { clickIdOf, headerOf } from "../ingress/click-answer.ts";
import { ClickPathsWorld, PARTNER } from "../ingress/click-paths-world.ts";

const run = promisify(execFile);

const world = await forThisFile(ClickPathsWorld.open());
const shop = await world.addTenant("shop");
await world.addOffer(shop, "SHOP");
await world.untilCurrent();

/** @throws the report of es-check if a script is not ES5. */
async function expectEs5(name: string, text: string): Promise<void> {
  const path = join(tmpdir(), `tracker-${process.pid}-${name}`);
  await writeFile(path, text);
  await run(projectFile("node_modules", ".bin", "es-check"), ["es5", path]);
}

test("/sdk.js is an ES5 script, open to all pages and cached for an hour (SDK-001, G164, G19)", async () => {
  const answer = await world.ask("/sdk.js", { headers: { origin: "https://shop.example" } });
  expect(answer.status).toBe(200);
  const source = await readFile(projectFile("ingress", "landing", "sdk.js"), "utf8");
  expect(answer.body).toBe(servedScript(source));
  expect(headerOf(answer, "content-type")).toBe("text/javascript; charset=utf-8");
  expect(headerOf(answer, "cache-control")).toBe("public, max-age=3600");
  expect(headerOf(answer, "access-control-allow-origin")).toBe("*");
  expect(headerOf(answer, "access-control-allow-credentials")).toBe("");
  await expectEs5("sdk.js", answer.body);
});

test("a browser that has this release gets 304 without the script (SDK-001, G164)", async () => {
  const etag = headerOf(await world.ask("/sdk.js"), "etag");
  expect(etag).toMatch(/^"[^"]+"$/);
  for (const known of [etag, `W/${etag}`, `"x", ${etag}`]) {
    const answer = await world.ask("/sdk.js", { headers: { "if-none-match": known } });
    expect([answer.status, answer.body, headerOf(answer, "etag")]).toEqual([304, "", etag]);
  }
  expect((await world.ask("/sdk.js", { headers: { "if-none-match": '"x"' } })).status).toBe(200);
});

test("HEAD has the headers of GET (SDK-001, PX-012)", async () => {
  for (const path of ["/sdk.js", "/px.js?offer=SHOP"]) {
    const got = await world.ask(path);
    const head = await world.ask(path, { method: "HEAD" });
    expect([head.status, head.body]).toEqual([200, ""]);
    expect(headerOf(head, "content-length")).toBe(String(Buffer.byteLength(got.body)));
    expect(headerOf(head, "content-type")).toBe(headerOf(got, "content-type"));
  }
});

test("every other method of the scripts is 405 with Allow, and records nothing (G196, PX-015)", async () => {
  for (const path of ["/sdk.js", "/px.js?offer=SHOP"]) {
    for (const method of ["POST", "PUT", "DELETE", "OPTIONS"]) {
      const answer = await world.ask(path, { method });
      expect([path, method, answer.status]).toEqual([path, method, 405]);
      expect(headerOf(answer, "allow")).toBe("GET, HEAD");
    }
  }
});

test("/px.js is an ES5 script that names the pixel and its parameters, never cached (PX-012, PX-013, G158)", async () => {
  const query = `click_id=${"a".repeat(32)}&event=sale&amount=9.90`;
  const answer = await world.ask(`/px.js?${query}`, { host: "trk.shop.example" });
  expect(answer.status).toBe(200);
  expect(headerOf(answer, "content-type")).toBe("text/javascript; charset=utf-8");
  expect(headerOf(answer, "cache-control")).toBe("no-store");
  expect(answer.body).toContain('origin + "/px"');
  expect(answer.body).toContain(JSON.stringify(query));
  expect(answer.body).toContain("trk.shop.example");
  await expectEs5("px.js", answer.body);
  for (const target of ["/px.js", "/px.js?%zz&&=", `/px.js?a=${"x".repeat(8_000)}`])
    expect((await world.ask(target)).status).toBe(200);
});

const Conversions = z.object({
  data: z.object({ conversions: z.array(z.looseObject({ method: z.string() })) }),
});

test("a conversion with js=1 has the method js, otherwise pixel (CNV-012, SDK-019, PX-014)", async () => {
  for (const [query, method] of [
    ["js=1&r=0.5", "js"],
    ["r=0.5", "pixel"],
  ] as const) {
    const click_id = clickIdOf(await world.ask(`/r/SHOP/${PARTNER}`));
    const answer = await world.ask(`/px?click_id=${click_id}&${query}`);
    expect(headerOf(answer, "x-tracker-conversion")).toBe("approved");
    const seen = Conversions.parse(await world.rest(`/clicks/${click_id}`, shop.adminKey));
    expect(seen.data.conversions.map((conversion) => conversion.method)).toEqual([method]);
  }
});
