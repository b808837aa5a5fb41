import { expect, test } from "vitest";
import { ApiWorld } from "../../../../integration/api/api-world.ts";
import {
  makePerson,
  openAs,
  outcome,
  PersonBrowser,
} from "../../../../integration/api/people/person-browser.ts";
import { forThisFile } from "../../../../services/for-this-file.ts";

const world = await forThisFile(ApiWorld.open({ trustedProxies: ["127.0.0.1"] }));
const ATTEMPTS = 300;

test("a flood of sign-ins hashes two passwords at a time, refuses the rest, and delays no other request", async () => {
  await makePerson(world.pool, "flood@first.example");
  const reader = await openAs(world, "reader@first.example", world.tenant, { role: "analyst" });
  const outcomes = new Map<string, number>();
  const floodAtMs = performance.now();
  const flood = Promise.all(
    Array.from({ length: ATTEMPTS }, async (_, i) => {
      const browser = new PersonBrowser(world.origin);
      const answer = await browser.call("POST", "/sign-in", {
        body: { email: `e${i}@first.example`, password: "wrong" },
        headers: { "x-forwarded-for": `10.1.${Math.floor(i / 250)}.${i % 250}` },
      });
      const key = outcome(answer);
      outcomes.set(key, (outcomes.get(key) ?? 0) + 1);
    }),
  );
  let isOver = false;
  void flood.then(() => {
    isOver = true;
  });
  const waits: number[] = [];
  while (!isOver) {
    const startedAt = performance.now();
    expect((await reader.get("/me")).status).toBe(200);
    waits.push(performance.now() - startedAt);
  }
  await flood;
  const floodMs = performance.now() - floodAtMs;
  expect(outcomes.get("503 unavailable") ?? 0).toBeGreaterThan(0);
  expect(outcomes.get("401 sign_in_required") ?? 0).toBeGreaterThanOrEqual(34);
  expect([...outcomes.values()].reduce((sum, count) => sum + count, 0)).toBe(ATTEMPTS);
  // A request that waits for the passwords before it would wait for most of the flood, which a busy machine makes long.
  expect(waits.length).toBeGreaterThan(2);
  expect(Math.max(...waits)).toBeLessThan(Math.max(2_000, floodMs / 4));
  const after = new PersonBrowser(world.origin);
  expect((await after.signIn("flood@first.example")).status).toBe(200);
});
