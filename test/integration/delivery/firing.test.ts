import { beforeEach, describe, expect, test } from "vitest";
import { forgetOldRows } from "../../../processors/schedule/retention.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { createCommand } from "../conversions/staff-commands.ts";
import { DeliveryWorld } from "./delivery-world.ts";

const world = await forThisFile(DeliveryWorld.open());
world.startLane();
beforeEach(() => world.receiver.answer((response) => void response.end("thanks")));

/** An offer with a postback for each `fire_on`; `fired` lists `<fire_on>:<trigger>:<status>` of a conversion's deliveries. */
async function threePostbacks(offer: Record<string, unknown> = {}): Promise<{
  readonly offerId: number;
  readonly fired: (conversionId: string) => Promise<string[]>;
}> {
  const offerId = await world.tracking.addOffer(offer);
  const names = new Map<number, string>();
  for (const fire_on of ["approved", "any", "reversal"])
    names.set(await world.addPostback(offerId, { fire_on }), fire_on);
  return {
    offerId,
    fired: async (conversionId) => {
      const rows = await world.deliveries(conversionId);
      if (rows.length > 0) await world.settled(conversionId);
      return (await world.deliveries(conversionId))
        .map(
          ({ endpoint_id, trigger, status }) =>
            `${names.get(endpoint_id) ?? "?"}:${trigger}:${status}`,
        )
        .toSorted();
    },
  };
}

const APPROVED = ["any:approved:delivered", "approved:approved:delivered"];

describe("which change fires which postback (G122)", () => {
  test("an approved conversion fires `approved` and `any` (PBO-017, LIFE-045)", async () => {
    const { offerId, fired } = await threePostbacks();
    expect(await fired(await world.convert(offerId))).toEqual(APPROVED);
  });

  test("a pending or rejected one fires `any` only, with its status (LIFE-045, PBO-030)", async () => {
    const { offerId, fired } = await threePostbacks();
    const pending = await world.convert(offerId, { status: "pending" });
    expect(await fired(pending)).toEqual(["any:pending:delivered"]);
    const rejected = await world.convert(offerId, { status: "rejected" });
    expect(await fired(rejected)).toEqual(["any:rejected:delivered"]);
  });

  test("POST /conversions fires like any other conversion (CNV-025)", async () => {
    const { offerId, fired } = await threePostbacks();
    const reply = await world.tracking.command(createCommand(world.tracking, { offerId }));
    const id = reply.kind === "created" ? reply.id : "";
    expect(await fired(id)).toEqual(APPROVED);
  });

  test("each status is sent once, and a reversal once (LIFE-033, LIFE-034, LIFE-036, T09)", async () => {
    const { offerId, fired } = await threePostbacks();
    const id = await world.convert(offerId, { status: "pending" });
    expect(await fired(id)).toEqual(["any:pending:delivered"]);
    for (const status of ["approved", "rejected", "approved", "rejected", "pending"] as const) {
      await world.setStatus(id, status);
      await fired(id);
    }
    expect(await fired(id)).toEqual([
      "any:approved:delivered",
      "any:pending:delivered",
      "any:rejected:delivered",
      "approved:approved:delivered",
      "reversal:reversal:delivered",
    ]);
  });

  test("a postback of all offers fires on each, once a conversion, for its partner alone (N35, T09)", async () => {
    const { offerId } = await threePostbacks();
    const partner = await world.tracking.insert("affiliate", {
      workspace_id: world.tracking.workspaceId,
      code: "EVERYWHERE",
      name: "Everywhere",
      currency: "USD",
    });
    const global = await world.addPostback(offerId, { offer_id: null, affiliate_id: partner });
    const ofSale = { offer_id: null, affiliate_id: partner, event_code: "other" };
    const otherEvent = await world.addPostback(offerId, ofSale);
    const own = await world.addPostback(offerId, { affiliate_id: partner });
    const later = await world.tracking.addOffer();
    const endpoints = async (id: string): Promise<number[]> =>
      (await world.deliveries(id)).map(({ endpoint_id }) => endpoint_id).toSorted((a, b) => a - b);
    const click = { affiliate_id: partner };
    expect(await endpoints(await world.convert(offerId, {}, click))).toEqual([global, own]);
    const id = await world.convert(later, {}, click);
    expect(await endpoints(id)).toEqual([global]);
    for (const status of ["rejected", "approved"] as const) await world.setStatus(id, status);
    expect(await endpoints(id)).toEqual([global]);
    const ofOther = await endpoints(await world.convert(later));
    expect(ofOther).toEqual([]);
    await world.tracking.pool.query({
      text: "delete from postback where id = any($1)",
      values: [[global, otherEvent]],
    });
  });

  test("setting the current status fires nothing (T63)", async () => {
    const { offerId, fired } = await threePostbacks();
    const id = await world.convert(offerId);
    await world.setStatus(id, "approved");
    expect(await fired(id)).toEqual(APPROVED);
  });

  test("pending to rejected is no reversal (LIFE-037)", async () => {
    const { offerId, fired } = await threePostbacks();
    const id = await world.convert(offerId, { status: "pending" });
    expect(await fired(id)).toEqual(["any:pending:delivered"]);
    await world.setStatus(id, "rejected");
    expect(await fired(id)).toEqual(["any:pending:delivered", "any:rejected:delivered"]);
  });

  test("a lowered payout is a reversal once, a raised one is not (G122, PBO-018)", async () => {
    const terms = { payout_type: "cps", payout: "10", revenue_type: "rps", revenue: "20" };
    const { offerId, fired } = await threePostbacks(terms);
    const id = await world.convert(offerId, { amount: "100" });
    await world.tracking.report({ conversion_id: id, amount: "200" });
    expect(await fired(id)).toEqual(APPROVED);
    for (const amount of ["50", "40"]) await world.tracking.report({ conversion_id: id, amount });
    expect(await fired(id)).toEqual([...APPROVED, "reversal:reversal:delivered"]);
  });

  test("duplicates, test=1 and conversions of other offers fire nothing", async () => {
    const { offerId, fired } = await threePostbacks();
    const { click_id } = await world.tracking.addClick({ offer_id: offerId });
    const first = await world.tracking.report({ click_id });
    const second = await world.tracking.report({ click_id });
    expect(second.body).toMatchObject({ duplicate: true });
    expect(await fired(String(first.body["conversion_id"]))).toEqual(APPROVED);
    expect(await fired(String(second.body["conversion_id"]))).toEqual([]);
    const before = await world.tracking.rows("select id from delivery");
    const click = await world.tracking.addClick({ offer_id: offerId });
    await world.tracking.report({ click_id: click.click_id, test: "1" });
    await world.convert(await world.tracking.addOffer());
    expect(await world.tracking.rows("select id from delivery")).toHaveLength(before.length);
  });

  test("the end of a hold fires like an approval", async () => {
    const { offerId, fired } = await threePostbacks({ hold_days: "0.00001" });
    const id = await world.convert(offerId);
    expect(await fired(id)).toEqual(["any:pending:delivered"]);
    await expect
      .poll(() => world.tracking.rows("select release_due_holds(10) as released"), {
        timeout: 5_000,
      })
      .toEqual([{ released: 1 }]);
    expect(await fired(id)).toEqual([
      "any:approved:delivered",
      "any:pending:delivered",
      "approved:approved:delivered",
    ]);
  });
});

describe("scope", () => {
  test("offer, partner and event decide; null matches all (PBO-019)", async () => {
    const offerId = await world.tracking.addOffer();
    const otherOffer = await world.tracking.addOffer();
    await world.tracking.addEvent(offerId, { code: "sale" });
    const stranger = await world.tracking.insert("affiliate", {
      workspace_id: world.tracking.workspaceId,
      code: "OTHER",
      name: "O",
      currency: "USD",
    });
    const mine = { affiliate_id: world.tracking.affiliateId };
    const ids: Record<string, number> = {
      ours: await world.addPostback(offerId, mine),
      everyone: await world.addPostback(offerId, { affiliate_id: null }),
      ourSale: await world.addPostback(offerId, { ...mine, event_code: "sale" }),
      everyonesDefault: await world.addPostback(offerId, {
        affiliate_id: null,
        event_code: "default",
      }),
      strangers: await world.addPostback(offerId, { affiliate_id: stranger }),
      elsewhere: await world.addPostback(otherOffer, { affiliate_id: null }),
      paused: await world.addPostback(offerId, { ...mine, status: "paused" }),
    };
    const fired = async (conversionId: string): Promise<string[]> => {
      const rows = await world.settled(conversionId);
      return Object.keys(ids).filter((name) => rows.some((row) => row.endpoint_id === ids[name]));
    };
    expect(await fired(await world.convert(offerId))).toEqual([
      "ours",
      "everyone",
      "everyonesDefault",
    ]);
    expect(await fired(await world.convert(offerId, { event: "sale" }))).toEqual([
      "ours",
      "everyone",
      "ourSale",
    ]);
    expect(await fired(await world.convert(offerId, {}, { affiliate_id: stranger }))).toEqual([
      "everyone",
      "everyonesDefault",
      "strangers",
    ]);
  });

  test("a private event fires nothing, global postbacks included (PBO-020, T12)", async () => {
    const offerId = await world.tracking.addOffer();
    await world.tracking.addEvent(offerId, { code: "secret", is_private: true });
    await world.addPostback(offerId, { affiliate_id: null, fire_on: "any" });
    await world.addPostback(offerId, { event_code: "secret" });
    const id = await world.convert(offerId, { event: "secret" });
    await world.setStatus(id, "rejected");
    expect(await world.deliveries(id)).toEqual([]);
  });

  test("an event that becomes private before it is sent is not sent (T12)", async () => {
    const offerId = await world.tracking.addOffer();
    const eventId = await world.tracking.addEvent(offerId, { code: "later" });
    await world.addPostback(offerId, { url: world.url("later") });
    await world.stopLanes();
    const id = await world.convert(offerId, { event: "later" });
    await world.tracking.change("update offer_event set is_private = true where id = $1", [
      eventId,
    ]);
    world.startLane();
    expect(await world.settled(id)).toMatchObject([
      { status: "failed", error: "event is private" },
    ]);
    expect(world.arrived("later")).toEqual([]);
  });
});

describe("a conversion that is rejected before it is sent (PBO-029, T11)", () => {
  test("is not sent as approved, but its reversal is", async () => {
    const offerId = await world.tracking.addOffer();
    await world.addPostback(offerId, { url: world.url(`r${offerId}?s={status}`) });
    await world.addPostback(offerId, {
      fire_on: "reversal",
      url: world.url(`r${offerId}?s={status}`),
    });
    await world.stopLanes();
    const id = await world.convert(offerId);
    await world.setStatus(id, "rejected");
    world.startLane();
    expect(await world.settled(id)).toMatchObject([
      { trigger: "approved", status: "failed", error: "conversion rejected", attempts: 0 },
      { trigger: "reversal", status: "delivered", error: "", attempts: 1 },
    ]);
    expect(world.arrived(`r${offerId}`).map(({ target }) => target)).toEqual([
      `/r${offerId}?s=rejected`,
    ]);
  });

  test("has not fired, so a later approval is sent once (LIFE-033)", async () => {
    const offerId = await world.tracking.addOffer();
    await world.addPostback(offerId);
    await world.stopLanes();
    const id = await world.convert(offerId);
    await world.setStatus(id, "rejected");
    world.startLane();
    expect(await world.settled(id)).toMatchObject([{ error: "conversion rejected" }]);
    await world.setStatus(id, "approved");
    expect(await world.settled(id)).toMatchObject([
      { trigger: "approved", status: "delivered", error: "", attempts: 1 },
    ]);
    for (const status of ["rejected", "approved"] as const) await world.setStatus(id, status);
    expect(world.arrived(`o${offerId}`)).toHaveLength(1);
  });

  test("is sent once when it is approved after its log row was deleted (G126, LIFE-033)", async () => {
    const offerId = await world.tracking.addOffer();
    await world.addPostback(offerId);
    await world.stopLanes();
    const id = await world.convert(offerId);
    await world.setStatus(id, "rejected");
    world.startLane();
    for (const expected of ["failed", "delivered"]) {
      expect(await world.settled(id)).toMatchObject([{ trigger: "approved", status: expected }]);
      await world.tracking.rows(
        "update delivery set finished_at = now() - interval '31 days' where conversion_id = $1",
        [id],
      );
      await forgetOldRows(world.tracking.pool, new AbortController().signal);
      expect(await world.deliveries(id)).toEqual([]);
      for (const status of ["rejected", "approved"] as const) await world.setStatus(id, status);
    }
    expect(await world.deliveries(id)).toEqual([]);
    expect(world.arrived(`o${offerId}`)).toHaveLength(1);
  });
});
