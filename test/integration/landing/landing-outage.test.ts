import { expect, test } from "vitest";
import { forThisFile } from "../../services/for-this-file.ts";
import { type LandingAnswer, LandingOutageWorld } from "./landing-outage-world.ts";

/** The script gives up after this long. */
const PATIENCE_MS = 5_000;
const DIRECT = { offer: "OFFER1", url: "https://shop.example/" };

// No processors run: nobody answers a lookup.
const world = await forThisFile(LandingOutageWorld.open());
await world.store.addOffer();
await world.startIngress();
await world.untilStatus(({ nats }) => nats);

function expectOutage(answer: LandingAnswer, error: string): void {
  expect([answer.status, answer.body]).toEqual([503, JSON.stringify({ error })]);
  expect(answer.headers.get("retry-after")).toBe("30");
  expect(answer.headers.get("access-control-allow-origin")).toBe("*");
  expect(answer.ms).toBeLessThan(PATIENCE_MS);
}

async function expectDirect(): Promise<void> {
  const answer = await world.post(DIRECT);
  expect(JSON.parse(answer.body)).toMatchObject({ source: "direct" });
}

test("without the writers a lookup is an outage, a visit without lookup is not (LP-016, G162)", async () => {
  expectOutage(await world.post({ ...DIRECT, gclid: "g" }), "click store unavailable");
  await expectDirect();
});

test("without a catalog the ingress reports an outage, and accepts the visit later (LP-016)", async () => {
  await world.endIngress();
  await world.forgetCatalog();
  await world.postgres.shut();
  await world.startIngress();
  expectOutage(await world.post(DIRECT), "configuration not loaded");
  expect((await world.post([])).body).toBe('{"error":"JSON object expected"}');
  await world.postgres.open();
  await world.untilStatus(({ healthy }) => healthy);
  await expectDirect();
});
