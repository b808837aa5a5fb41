import { expect, test } from "vitest";
import {
  type LandingAnswer,
  LandingOutageWorld,
} from "../../../integration/landing/landing-outage-world.ts";
import { forThisFile } from "../../../services/for-this-file.ts";

/** The script gives up after this long. */
const PATIENCE_MS = 5_000;
const SOON = { timeout: 15_000, interval: 20 };
const DIRECT = { offer: "OFFER1", url: "https://shop.example/" };
let directClicks = 0;
let completeToMs = 0;

// The service is completed step by step: each test adds what the previous one lacked.
const world = await forThisFile(LandingOutageWorld.open());
const offerId = await world.store.addOffer();
await world.startIngress();
await world.untilStatus(({ nats }) => nats);

function expectOutage(answer: LandingAnswer, error = "click store unavailable"): void {
  expect([answer.status, answer.body]).toEqual([503, JSON.stringify({ error })]);
  expect(answer.headers.get("retry-after")).toBe("30");
  expect(answer.headers.get("access-control-allow-origin")).toBe("*");
  expect(answer.ms).toBeLessThan(PATIENCE_MS);
}

async function expectDirect(body: object = DIRECT): Promise<void> {
  expect(await answered(body)).toMatchObject({ source: "direct" });
  directClicks += 1;
  // None of the earlier outages created a click.
  await expect.poll(() => world.shipped(), SOON).toHaveLength(directClicks);
}

/** Asks as a page does: again on the next page view while there is an outage. */
async function answered(body: object): Promise<unknown> {
  let answer = await world.post(body);
  for (let repeats = 0; answer.status === 503 && repeats < 5; repeats += 1)
    answer = await world.post(body);
  return JSON.parse(answer.body);
}

/** Waits for a lookup with this id. Call it once the request is sent. */
async function untilLookedUp(gclid: string): Promise<void> {
  const { connection, subjects } = world.store.nats;
  const queries = connection.subscribe(subjects.clickQuery(0));
  for await (const message of queries) if (message.string().includes(`"${gclid}"`)) break;
}

test("a failed lookup creates no click, a visit without lookup creates one (LP-016, P15, G162)", async () => {
  const { click_id } = world.store.aClick({ offer_id: offerId });
  for (const ids of [{ gclid: "g" }, { gbraid: "b" }, { wbraid: "w" }, { click_id }])
    expectOutage(await world.post({ ...DIRECT, ...ids }));
  await expectDirect();
});

test("the same applies without NATS, and no click is lost (LP-016)", async () => {
  await world.nats.shut();
  await world.untilStatus(({ nats }) => !nats);
  expectOutage(await world.post({ ...DIRECT, gclid: "g" }));
  const answer = await world.post(DIRECT);
  expect(answer.body).toContain('"source":"direct"');
  directClicks += 1;
  await world.nats.open();
  await world.untilStatus(({ nats }) => nats);
  await expect.poll(() => world.shipped(), SOON).toHaveLength(directClicks);
});

test("answers given without NATS are in the inbound log afterwards (PB-064, G178)", async () => {
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

test("without the writers a lookup is an outage (LP-016, G162)", async () => {
  world.store.addYoungClick({ offer_id: offerId, gclid: "unheard" });
  await world.store.addClick({ offer_id: offerId, gclid: "unheard" });
  expectOutage(await world.post({ ...DIRECT, gclid: "unheard" }));
});

test("while writers are behind, stored clicks are found and none is called missing (LP-016, G162)", async () => {
  world.store.startWriters({ completeToMs: () => completeToMs });
  await world.store.nats.connection.flush();
  const stored = await world.store.addClick({ offer_id: offerId, gclid: "stored" });
  const young = world.store.addYoungClick({ offer_id: offerId, gclid: "young" });
  expectOutage(await world.post({ ...DIRECT, gclid: "unknown" }));
  for (const { click_id, gclid } of [stored, young])
    expect(await answered({ ...DIRECT, gclid })).toEqual({ click_id, source: "gclid" });
  completeToMs = Number.MAX_SAFE_INTEGER;
  await expectDirect({ ...DIRECT, gclid: "unknown" });
});

test("without ClickHouse young clicks are found, older ones are an outage (LP-016, P12)", async () => {
  const stored = await world.store.addClick({ offer_id: offerId, gclid: "old" });
  const { click_id } = world.store.addYoungClick({ offer_id: offerId, gclid: "new" });
  await world.clickhouse.shut();
  for (const offer of ["", "OFFER1"])
    expect(await answered({ ...DIRECT, offer, gclid: "new" })).toEqual({
      click_id,
      source: "gclid",
    });
  expect(await answered({ click_id })).toEqual({ click_id, source: "param" });
  for (const ids of [{ gclid: "old" }, { gclid: "unknown" }, { click_id: stored.click_id }])
    expectOutage(await world.post({ ...DIRECT, ...ids }));
  await world.clickhouse.open();
  expect(await answered({ ...DIRECT, gclid: "old" })).toEqual({
    click_id: stored.click_id,
    source: "gclid",
  });
});

test("with a hanging ClickHouse a click that arrives during the lookup is found (LP-016, P12)", async () => {
  await world.freezeClickhouse();
  const answering = world.post({ ...DIRECT, gclid: "late" });
  await untilLookedUp("late");
  const { click_id } = world.store.addYoungClick({ offer_id: offerId, gclid: "late" });
  const answer = await answering;
  expect(JSON.parse(answer.body)).toEqual({ click_id, source: "gclid" });
  expectOutage(await world.post({ ...DIRECT, gclid: "unknown" }));
  await world.thawClickhouse();
});
