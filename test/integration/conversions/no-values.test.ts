import { expect, test } from "vitest";
import { z } from "zod";
import { forThisFile } from "../../services/for-this-file.ts";
import { TrackingWorld } from "./tracking-world.ts";

const Ignored = z.strictObject({ ignored: z.array(z.string()) });

const world = await forThisFile(TrackingWorld.open());
const offerId = await world.addOffer();
/** Two of the forms that `schemas/names/no-value.test.ts` lists. */
const NAMES = ["{order_id}", "undefined"];
const VALUES = ["{3F2504E0-4F89-11D3-9A0C-0305E82C3301}", '{"order":7}'];

async function aClickId(): Promise<string> {
  return (await world.addClick({ offer_id: offerId })).click_id;
}

test.each(["txid", "adv_txid", "order_id"])(
  "a name in place of the order number in %s makes no two orders one (G216)",
  async (name) => {
    for (const text of NAMES) {
      const [first, second] = [await aClickId(), await aClickId()];
      const made = await world.report({ click_id: first, [name]: text });
      const other = await world.report({ click_id: second, [name]: text, status: "rejected" });
      expect(made.body, text).toMatchObject({ status: "approved", details: { ignored: [name] } });
      expect(other.body, text).toMatchObject({ status: "rejected", reason: "postback" });
      expect(other.body["conversion_id"]).not.toBe(made.body["conversion_id"]);
      expect(await world.conversion(made.body["conversion_id"])).toMatchObject({
        adv_txid: null,
        status: "approved",
      });
    }
  },
);

test("an alias with a value counts where the first name has none (G119, G216)", async () => {
  const { body } = await world.report({
    click_id: await aClickId(),
    txid: "{txid}",
    order_id: "A-1",
  });
  expect(await world.conversion(body["conversion_id"])).toMatchObject({ adv_txid: "A-1" });
  expect(body).toMatchObject({ details: { ignored: ["txid"] } });
});

test("a name in place of an Idempotency-Key swallows no report (G203, G216)", async () => {
  const report = { offer_id: String(offerId), aff_id: "PARTNR" };
  for (const key of NAMES) {
    const inHeader = [
      await world.report(report, { idempotencyKey: key }),
      await world.report({ ...report, amount: "7" }, { idempotencyKey: key }),
    ];
    const asParameter = [
      await world.report({ ...report, idempotency_key: key }),
      await world.report({ ...report, idempotency_key: key }),
    ];
    const bodies = [...inHeader, ...asParameter].map(({ body }) => body);
    expect(bodies.map(({ ok }) => ok)).toEqual([true, true, true, true]);
    expect(new Set(bodies.map((body) => body["conversion_id"])).size).toBe(4);
    expect(bodies[0]).toMatchObject({ details: { ignored: ["Idempotency-Key"] } });
    expect(bodies[2]).toMatchObject({ details: { ignored: ["idempotency_key"] } });
  }
});

test("no free field has a name as its value; the answer and the log say which (P31, G216)", async () => {
  const { body } = await world.report({
    click_id: await aClickId(),
    gclid: "{gclid}",
    coupon_code: "null",
    email: "{{email}}",
    phone: "undefined",
    ip: "%IP%",
    adv1: "{adv1}",
    adv2: "blue",
    aff_id: "{aff}",
  });
  const ignored = ["gclid", "coupon_code", "email", "phone", "ip", "adv1", "aff_id"];
  expect(body).toMatchObject({ ok: true, status: "approved" });
  expect(Ignored.parse(body["details"]).ignored.toSorted()).toEqual(ignored.toSorted());
  expect(await world.conversion(body["conversion_id"])).toMatchObject({
    params: { adv2: "blue" },
    email_hash: null,
    phone_hash: null,
  });
  const logged = async (): Promise<unknown> =>
    (
      await world.rows("select message from postback_log where conversion_id = $1", [
        body["conversion_id"],
      ])
    )[0]?.["message"];
  await expect.poll(logged).toMatch(/^no value in .*coupon_code.*adv1/);
});

test("a pixel's answer names what was ignored, and its cookie still counts (PX-006, G216)", async () => {
  const cookieClickId = await aClickId();
  const reply = await world.report(
    { gclid: "{gclid}", txid: "{order_id}" },
    { endpoint: "px", cookieClickId },
  );
  expect(reply.body).toMatchObject({ status: "approved" });
  expect(reply.hint).toMatch(/^no value in txid, gclid:/);
});

test("where a field says what the report means, a name is refused and not ignored (G216)", async () => {
  const click_id = await aClickId();
  for (const name of ["status", "event", "amount", "payout", "currency", "conversion_id"]) {
    const { httpStatus, body } = await world.report({ click_id, [name]: "{value}" });
    expect([name, httpStatus, body.ok]).toEqual([name, 400, false]);
  }
  const only = await world.report({ txid: "{order_id}" });
  expect(only.httpStatus).toBe(400);
  expect(only.body).toMatchObject({ details: { ignored: ["txid"] } });
  expect(only.body["error"]).toMatch(/^missing identifier/);
});

test("a value that looks like a name is an order number (G216)", async () => {
  for (const txid of VALUES) {
    const { body } = await world.report({ click_id: await aClickId(), txid });
    expect(await world.conversion(body["conversion_id"]), txid).toMatchObject({ adv_txid: txid });
  }
});
