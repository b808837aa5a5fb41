import { afterAll, beforeAll, expect, test } from "vitest";
import { type LandingAnswer, LandingOutageWorld } from "./landing-outage-world.ts";

/** The script gives up after this long. */
const PATIENCE_MS = 5_000;
const SOON = { timeout: 15_000, interval: 20 };
const DIRECT = { offer: "OFFER1", url: "https://shop.example/" };

let world: LandingOutageWorld;
let offerId = 0;
let directClicks = 0;
let completeToMs = 0;

// One service that becomes whole: each test adds what the one before it was without.
beforeAll(async () => {
  world = await LandingOutageWorld.open();
  offerId = await world.store.addOffer();
  await world.startIngress();
  await world.untilHealth(({ nats }) => nats);
});
afterAll(() => world.close());

function expectOutage(answer: LandingAnswer, error = "click store unavailable"): void {
  expect([answer.status, answer.body]).toEqual([503, JSON.stringify({ error })]);
  expect(answer.headers.get("retry-after")).toBe("30");
  expect(answer.headers.get("access-control-allow-origin")).toBe("*");
  expect(answer.ms).toBeLessThan(PATIENCE_MS);
}

async function expectDirect(body: object = DIRECT): Promise<void> {
  expect(await answered(body)).toMatchObject({ source: "direct" });
  directClicks += 1;
  // No outage before this one has left a click behind.
  await expect.poll(() => world.shipped(), SOON).toHaveLength(directClicks);
}

/** Asks as a page does: on the next page view again, while there is an outage. */
async function answered(body: object): Promise<unknown> {
  let answer = await world.post(body);
  for (let repeats = 0; answer.status === 503 && repeats < 5; repeats += 1)
    answer = await world.post(body);
  return JSON.parse(answer.body);
}

/** Waits for a look-up that names this id; to be called when it is under way. */
async function untilAskedFor(gclid: string): Promise<void> {
  const { connection, subjects } = world.store.nats;
  const asked = connection.subscribe(subjects.clickQuery(0));
  for await (const message of asked) if (message.string().includes(`"${gclid}"`)) break;
}

test("a look-up during an outage makes no click, a visit that needs none makes one (LP-016, P15, G162)", async () => {
  const { click_id } = world.store.aClick({ offer_id: offerId });
  for (const ids of [{ gclid: "g" }, { gbraid: "b" }, { wbraid: "w" }, { click_id }])
    expectOutage(await world.post({ ...DIRECT, ...ids }));
  await expectDirect();
});

test("with NATS away the same, and nothing is lost (LP-016)", async () => {
  await world.nats.shut();
  await world.untilHealth(({ nats }) => !nats);
  expectOutage(await world.post({ ...DIRECT, gclid: "g" }));
  const answer = await world.post(DIRECT);
  expect(answer.body).toContain('"source":"direct"');
  directClicks += 1;
  await world.nats.open();
  await world.untilHealth(({ nats }) => nats);
  await expect.poll(() => world.shipped(), SOON).toHaveLength(directClicks);
});

test("what was answered while NATS was away is in the inbound log afterwards (PB-064, G178)", async () => {
  world.store.startLane();
  await world.store.nats.connection.flush();
  const counts =
    "select result, count(*)::int as calls from postback_log group by result order by 1";
  await expect
    .poll(() => world.store.rows(counts), SOON)
    .toEqual([
      { result: "direct", calls: directClicks },
      { result: "unavailable", calls: 5 },
    ]);
});

test("without the writers no look-up is answered (LP-016, G162)", async () => {
  world.store.addYoungClick({ offer_id: offerId, gclid: "unheard" });
  await world.store.addClick({ offer_id: offerId, gclid: "unheard" });
  expectOutage(await world.post({ ...DIRECT, gclid: "unheard" }));
});

test("while the writers are behind, known clicks are found and none is called missing (LP-016, G162)", async () => {
  world.store.startWriters({ completeToMs: () => completeToMs });
  await world.store.nats.connection.flush();
  const stored = await world.store.addClick({ offer_id: offerId, gclid: "stored" });
  const young = world.store.addYoungClick({ offer_id: offerId, gclid: "young" });
  expectOutage(await world.post({ ...DIRECT, gclid: "of nobody" }));
  for (const { click_id, gclid } of [stored, young])
    expect(await answered({ ...DIRECT, gclid })).toEqual({ click_id, source: "gclid" });
  completeToMs = Number.MAX_SAFE_INTEGER;
  await expectDirect({ ...DIRECT, gclid: "of nobody" });
});

test("with ClickHouse away young clicks are found, and what only it would know is an outage (LP-016, P12)", async () => {
  const stored = await world.store.addClick({ offer_id: offerId, gclid: "old" });
  const { click_id } = world.store.addYoungClick({ offer_id: offerId, gclid: "new" });
  await world.clickhouse.shut();
  for (const offer of ["", "OFFER1"])
    expect(await answered({ ...DIRECT, offer, gclid: "new" })).toEqual({
      click_id,
      source: "gclid",
    });
  expect(await answered({ click_id })).toEqual({ click_id, source: "param" });
  for (const ids of [{ gclid: "old" }, { gclid: "nobody's" }, { click_id: stored.click_id }])
    expectOutage(await world.post({ ...DIRECT, ...ids }));
  await world.clickhouse.open();
  expect(await answered({ ...DIRECT, gclid: "old" })).toEqual({
    click_id: stored.click_id,
    source: "gclid",
  });
});

test("with ClickHouse hanging a click is found that its writer reads after the question (LP-016, P12)", async () => {
  await world.freezeClickhouse();
  const asked = world.post({ ...DIRECT, gclid: "late" });
  await untilAskedFor("late");
  const { click_id } = world.store.addYoungClick({ offer_id: offerId, gclid: "late" });
  const answer = await asked;
  expect(JSON.parse(answer.body)).toEqual({ click_id, source: "gclid" });
  expectOutage(await world.post({ ...DIRECT, gclid: "nobody's" }));
  await world.thawClickhouse();
});

test("before it has a catalog the ingress says so, and takes the same visit afterwards (LP-016)", async () => {
  await world.endIngress();
  await world.forgetCatalog();
  await world.postgres.shut();
  await world.startIngress();
  expectOutage(await world.post(DIRECT), "configuration not loaded");
  expect((await world.post([])).body).toBe('{"error":"JSON object expected"}');
  await world.postgres.open();
  await world.untilHealth(({ ok }) => ok);
  await expectDirect();
});
