import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { forgetOldRows } from "../../../processors/schedule/retention.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { ADVERTISER_TOKEN, TrackingWorld } from "./tracking-world.ts";

const USED = { ok: false, error: "idempotency key was used for another report" };

const world = await forThisFile(TrackingWorld.open({ lanes: 3 }));

/** A report without a click or an order: without a key each repeat is recorded. */
async function sale(more: Record<string, string> = {}): Promise<Record<string, string>> {
  const offerId = await world.addOffer();
  return { offer_id: String(offerId), aff_id: "PARTNR", amount: "5", ...more };
}

async function countOf({ offer_id: offerId }: Record<string, string>): Promise<number> {
  return (await world.rows("select id from conversion where offer_id = $1", [offerId])).length;
}

test("the same key and parameters get the first answer, and are recorded once (#4, G203)", async () => {
  const report = await sale({ idempotency_key: "retry-1.a_B" });
  const first = await world.report(report);
  expect(first.body).toMatchObject({ ok: true, status: "approved" });
  const { idempotency_key: key, amount = "", ...rest } = report;
  const inHeader = await world.report(
    { ...rest, sale_amount: `${amount}.00` },
    { idempotencyKey: key ?? "" },
  );
  expect([await world.report(report), inHeader]).toEqual([first, first]);
  expect(await countOf(report)).toBe(1);
  const other = await world.report({ ...report, amount: "6" });
  expect([other.httpStatus, other.body]).toEqual([400, USED]);
  expect(
    (await world.report({ ...report, idempotency_key: "other" })).body["conversion_id"],
  ).not.toBe(first.body["conversion_id"]);
});

test("a key belongs to its token (#4, G203)", async () => {
  const report = await sale({ idempotency_key: "shared" });
  const own = await world.report(report);
  const advertisers = await world.report({ ...report, amount: "7", token: ADVERTISER_TOKEN });
  expect(advertisers.body).toMatchObject({ ok: true });
  expect(advertisers.body["conversion_id"]).not.toBe(own.body["conversion_id"]);
});

test.each(["", " "])("the empty key %o does not count as a key (#4, G119, G203)", async (key) => {
  const report = await sale({ idempotency_key: key });
  await world.report(report);
  await world.report(report);
  expect(await countOf(report)).toBe(2);
});

test.each(["a b", "é", "k".repeat(65), "a/b", "a,a"])(
  "the key %o is refused (#4, G208)",
  async (key) => {
    const refusal = {
      httpStatus: 400,
      result: "malformed",
      body: { ok: false, error: "invalid idempotency key (1 to 64 letters, digits, . _ or -)" },
    };
    const report = await sale();
    expect(await world.report({ ...report, idempotency_key: key })).toEqual(refusal);
    expect(await world.report(report, { idempotencyKey: key.slice(0, 65) })).toEqual(refusal);
    expect(await countOf(report)).toBe(0);
  },
);

test("a refusal is repeated as the answer, an outage is not (#4, G203)", async () => {
  const click = world.aClick({ offer_id: await world.addOffer(), ageMs: 0 });
  const young = { click_id: click.click_id, idempotency_key: "young" };
  expect((await world.report(young, { isSentOnce: true })).httpStatus).toBe(503);
  await world.storeClicks([click]);
  expect((await world.report(young)).body).toMatchObject({ ok: true, status: "approved" });
  const unknown = { conversion_id: randomUUID(), status: "approved", idempotency_key: "refused" };
  const first = await world.report(unknown);
  expect(first.body).toEqual({ ok: false, error: "unknown conversion_id" });
  const id = (await world.report(await sale())).body["conversion_id"];
  await world.change("update conversion set id = $1 where id = $2", [unknown.conversion_id, id]);
  expect(await world.report(unknown)).toEqual(first);
});

test("an update with a key is applied once and answered as the first time (#4, G203)", async () => {
  const made = await world.report(await sale({ txid: "order" }));
  const id = String(made.body["conversion_id"]);
  const reject = { conversion_id: id, status: "rejected", idempotency_key: "reject" };
  const first = await world.report(reject);
  expect(first.body).toMatchObject({ updated: true, status: "rejected" });
  await world.report({ conversion_id: id, status: "approved" });
  expect(await world.report(reject)).toEqual(first);
  expect(await world.conversion(id)).toMatchObject({ status: "approved", version: 3 });
});

test("a test stores no key (#4, G120, G203)", async () => {
  const report = await sale({ idempotency_key: "dry" });
  expect((await world.report({ ...report, test: "1" })).body).toMatchObject({ test: true });
  expect((await world.report({ ...report, amount: "9" })).body).toMatchObject({ ok: true });
});

test("one of 64 concurrent reports with a key is recorded, and all get its answer (#4, G203)", async () => {
  const report = await sale({ idempotency_key: "crowd" });
  const replies = await Promise.all(Array.from({ length: 64 }, () => world.report(report)));
  expect(new Set(replies.map((reply) => JSON.stringify(reply))).size).toBe(1);
  expect(await countOf(report)).toBe(1);
  const different = await sale({ idempotency_key: "mixed" });
  const mixed = await Promise.all(
    Array.from({ length: 64 }, (_, i) => world.report({ ...different, amount: String(i) })),
  );
  expect(mixed.filter(({ body }) => body.ok)).toHaveLength(1);
  expect(mixed.filter(({ httpStatus }) => httpStatus === 400)).toHaveLength(63);
  expect(await countOf(different)).toBe(1);
});

test("no log contains a key, and after seven days a key is new again (#4, G203)", async () => {
  const report = await sale({ idempotency_key: "CANARY-key" });
  await world.report(report);
  const logged = async (): Promise<unknown> =>
    (
      await world.rows("select params from postback_log where params ->> 'offer_id' = $1", [
        report["offer_id"],
      ])
    )[0]?.["params"];
  await expect.poll(logged).toMatchObject({ offer_id: report["offer_id"] });
  expect(JSON.stringify(await logged())).not.toContain("CANARY");
  await world.rows("update report_key set created_at = now() - interval '167 hours'");
  await forgetOldRows(world.pool, new AbortController().signal);
  await world.report(report);
  expect(await countOf(report)).toBe(1);
  await world.rows("update report_key set created_at = now() - interval '169 hours'");
  await forgetOldRows(world.pool, new AbortController().signal);
  await world.report(report);
  expect(await countOf(report)).toBe(2);
});
