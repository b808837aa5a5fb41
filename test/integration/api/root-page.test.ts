import { expect, test } from "vitest";
import { z } from "zod";
import { buildInfo } from "../../../schemas/host/build-info.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { ApiWorld } from "./api-world.ts";

const Root = z.record(z.string(), z.string());

const world = await forThisFile(ApiWorld.open());

test("the root says what is here: a page, also for monitors, and JSON for who asks for it", async () => {
  const { origin } = world;
  const page = await fetch(origin, { headers: { accept: "text/html,*/*;q=0.8" } });
  const markup = await page.text();
  expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
  expect(page.headers.get("content-security-policy")).toContain("default-src 'none'");
  expect(await (await fetch(origin)).text()).toBe(markup);
  const answer = await fetch(origin, { headers: { accept: "application/json" } });
  expect(answer.headers.get("content-type")).toBe("application/json; charset=utf-8");
  const { name, version, ...places } = Root.parse(await answer.json());
  expect([name, version]).toEqual(["Affiliate tracker API", buildInfo().version]);
  expect(markup).toContain(buildInfo().version);
  for (const path of Object.values(places)) expect(markup).toContain(`href="${path}"`);
  for (const place of ["reference", "openapi", "health"]) {
    const { status } = await fetch(new URL(places[place] ?? "", origin));
    expect([place, status]).toEqual([place, 200]);
  }
});

test("/robots.txt keeps search engines away, without a key (G243)", async () => {
  const answer = await fetch(new URL("/robots.txt", world.origin));
  expect([answer.status, await answer.text()]).toEqual([200, "User-agent: *\nDisallow: /\n"]);
  expect(answer.headers.get("content-type")).toBe("text/plain; charset=utf-8");
});
