import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { forThisFile } from "../../services/for-this-file.ts";
import { TrackingWorld } from "./tracking-world.ts";

const world = await forThisFile(TrackingWorld.open({ lanes: 2 }));
world.startWriters();
await world.nats.connection.flush();

const PIXEL = { endpoint: "px", isRepeat: true } as const;

test("a pixel whose first answer was lost is recorded once and answered as before (P15)", async () => {
  for (const settings of [{ unique_per_click: true }, { unique_per_click: false }]) {
    const { click_id } = world.addYoungClick({ offer_id: await world.addOffer(settings) });
    for (const params of [{ click_id }, { click_id, txid: randomUUID() }]) {
      const conversionId = randomUUID();
      const lost = await world.report(params, { endpoint: "px", conversionId });
      const again = await world.report(params, { ...PIXEL, conversionId });
      expect(again).toEqual(lost);
      expect(lost.body).toMatchObject({ conversion_id: conversionId });
      expect(await world.rows("select id from conversion where id = $1", [conversionId])).toEqual([
        { id: conversionId },
      ]);
    }
    const rows = await world.rows("select id from conversion where click_id = $1", [click_id]);
    expect(rows).toHaveLength(2);
  }
});

test("concurrent tries of one pixel make one conversion (P15, P16)", async () => {
  const offerId = await world.addOffer({ unique_per_click: false });
  const clicks = Array.from({ length: 10 }, () => world.addYoungClick({ offer_id: offerId }));
  await Promise.all(
    clicks.map(async ({ click_id }) => {
      const conversionId = randomUUID();
      const again = { ...PIXEL, conversionId };
      await Promise.all([
        // Its sender has given this pixel up, so any outcome is fine.
        world.report({ click_id }, { endpoint: "px", conversionId, isSentOnce: true }),
        world.reportUntilAnswered({ click_id }, again),
        world.reportUntilAnswered({ click_id }, again),
      ]);
    }),
  );
  const counted = await world.rows(
    "select click_id from conversion where offer_id = $1 and not is_duplicate",
    [offerId],
  );
  expect(counted).toHaveLength(clicks.length);
  expect(await world.rows("select id from conversion where offer_id = $1", [offerId])).toHaveLength(
    clicks.length,
  );
});

test("a coupon's click is returned once and awaited until it is stored (#23, TRK-037)", async () => {
  const offer_id = await world.addOffer();
  await world.insert("coupon", {
    workspace_id: world.workspaceId,
    offer_id,
    affiliate_id: world.affiliateId,
    code: "AGAIN",
  });
  const report = { conversionId: randomUUID(), producer: 3, receivedAtMs: Date.now() - 123_457 };
  const params = { coupon: "AGAIN", txid: "again" };
  const recordsUntilMs = Date.now() + 15_000;
  const lost = await world.report(params, { endpoint: "px", ...report, recordsUntilMs });
  const { couponClick, ...answer } = lost;
  expect(couponClick).toMatchObject({ ts: report.receivedAtMs });
  // Another process must not record the click again: the first one may have recorded it.
  expect(await world.report(params, { ...PIXEL, ...report, producer: 4 })).toEqual(answer);
  const wanted = async () =>
    await world.rows(
      "select producer, until_ms, click from coupon_click where conversion_id = $1",
      [report.conversionId],
    );
  expect(await wanted()).toEqual([{ producer: 3, until_ms: recordsUntilMs, click: couponClick }]);
  if (couponClick !== undefined) world.addYoungClick({ ...couponClick, link_type: "coupon" });
  await expect.poll(wanted, { timeout: 20_000 }).toEqual([]);
});

test("a duplicate of a coupon's order has its click stored too (G106, TRK-037)", async () => {
  const offer_id = await world.addOffer();
  await world.insert("coupon", {
    workspace_id: world.workspaceId,
    offer_id,
    affiliate_id: world.affiliateId,
    code: "TWICE",
  });
  const params = { coupon: "TWICE", txid: "twice", amount: "5" };
  const results = [];
  for (let n = 0; n < 2; n += 1) {
    const { result, body, couponClick } = await world.report(params, { producer: 3 });
    results.push(result);
    expect(
      await world.rows("select click from coupon_click where conversion_id = $1", [
        body["conversion_id"],
      ]),
    ).toEqual([{ click: couponClick }]);
  }
  expect(results).toEqual(["approved", "duplicate"]);
});

test("a pixel that is recorded later is judged by its time of arrival (P15, G101)", async () => {
  const offerId = await world.addOffer();
  const { click_id, ts } = await world.addClick({ offer_id: offerId, ageMs: 5 * 86_400_000 });
  const receivedAtMs = ts + 60_000;
  const conversionId = randomUUID();
  const reply = await world.report({ click_id }, { ...PIXEL, conversionId, receivedAtMs });
  expect(reply.result).toBe("approved");
  expect((await world.conversion(conversionId))["conv_ts"]).toBe(
    new Date(receivedAtMs).toISOString(),
  );
});

test("the inbound log has one row for an outage, not one for each try (P15)", async () => {
  // A genuine id that no writer and no table has: its click may still be in flight.
  const { click_id } = world.aClick({ offer_id: await world.addOffer(), ageMs: 0 });
  const conversionId = randomUUID();
  const outage = { isSentOnce: true, conversionId };
  const lost = await world.report({ click_id }, { ...outage, endpoint: "px" });
  const again = await world.report({ click_id }, { ...outage, ...PIXEL });
  expect([lost.httpStatus, again.httpStatus]).toEqual([503, 503]);
  world.addYoungClick({ ...world.aClick(), click_id, offer_id: 1 });
  await world.report({ click_id }, { ...PIXEL, conversionId });
  await expect
    .poll(async () => {
      const rows = await world.rows(
        "select http_status from postback_log where params ->> 'click_id' = $1 order by id",
        [click_id],
      );
      return rows.map(({ http_status }) => http_status);
    })
    .toEqual([503, 200]);
});
