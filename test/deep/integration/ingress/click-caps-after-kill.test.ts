import { expect, test } from "vitest";
import { forThisFile } from "../../../services/for-this-file.ts";
import { until } from "../../../system/until.ts";
import { TwoIngressWorld } from "./two-ingress-world.ts";

const LIMIT = 40;
const CAPS = { caps: { clicks: { total: LIMIT } } };
const FIRST_CLICKS = 5;

const world = await forThisFile(TwoIngressWorld.open());

/** Sends clicks until the cap is full. A process that counts all of them itself lets exactly LIMIT pass. */
async function fill(code: string): Promise<void> {
  for (let sent = 0; sent < LIMIT; sent += 1)
    expect(await world.passes("b", code, sent)).toBe(true);
  expect(await world.passes("b", code, LIMIT)).toBe(false);
}

/** How many of the first clicks after a start pass. */
async function passing(code: string): Promise<number> {
  let passed = 0;
  for (let sent = 0; sent < FIRST_CLICKS; sent += 1) {
    if (await world.passes("b", code, 100 + sent)) passed += 1;
  }
  return passed;
}

test("after a kill -9 without NATS no click passes a full cap, even if its clicks are not shipped (#23)", async () => {
  await world.addOffer("UNSHIPPED", CAPS);
  await world.gate("b").shut();
  await fill("UNSHIPPED");
  await world.killIngress("b");
  expect(await passing("UNSHIPPED")).toBe(0);
  // A second kill: the counters that were read from disk are also kept.
  await world.killIngress("b");
  expect(await passing("UNSHIPPED")).toBe(0);
  await world.gate("b").open();
});

test("after a kill -9 without NATS no click passes a cap that other processes filled (#23)", async () => {
  const id = await world.addOffer("OTHERS", CAPS);
  for (let sent = 0; sent < LIMIT; sent += 1) await world.click("a", "OTHERS", sent);
  await until("b knows", async () => !(await world.passes("b", "OTHERS")));
  const keptClicks = async (): Promise<number> =>
    await world.keptClicks("b", `offer/${id}/clicks/total`);
  await until("b has kept the counter", async () => (await keptClicks()) >= LIMIT, {
    timeoutMs: 90_000,
  });
  await world.gate("b").shut();
  await world.killIngress("b");
  expect(await passing("OTHERS")).toBe(0);
  await world.gate("b").open();
});

test("a new ingress knows full and reached caps before its first click (#23)", async () => {
  await world.addOffer("NEW", CAPS);
  await world.addOffer("REACHED", { caps: { conversions: { daily: 1 } } });
  for (let sent = 0; sent < LIMIT; sent += 1) await world.click("a", "NEW", sent);
  const { clickId } = await world.click("a", "REACHED");
  expect(await world.report("a", clickId)).toBe("200 approved");
  for (const code of ["NEW", "REACHED"]) {
    await until(`${code} is full on a`, async () => !(await world.passes("a", code)), {
      timeoutMs: 90_000,
    });
  }
  await world.killAndForget("b");
  expect(await passing("NEW")).toBe(0);
  expect(await passing("REACHED")).toBe(0);
});
