import { expect, test } from "vitest";
import { z } from "zod";
import { LocalClickState } from "../../../ingress/decide/click-state.ts";
import { noteClickMoney } from "../../../processors/clicks/caps/note-click-money.ts";
import {
  counterCapsOf,
  selectReachedCaps,
} from "../../../processors/conversions/record/reached-caps.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { type Answer, ApiWorld, record } from "./api-world.ts";

const world = await forThisFile(ApiWorld.open());
await world.startProcessor();
const { affiliateId } = world.tenant;

const Usage = z.array(
  z.looseObject({
    owner_id: z.int(),
    currency: z.string().nullable(),
    is_reached: z.boolean().nullable(),
  }),
);
const usageOf = ({ body }: Answer) => Usage.parse(body["data"]);

const Items = z.array(
  z.object({ kind: z.string(), count: z.int(), query: z.record(z.string(), z.string()) }),
);
const itemsOf = ({ body }: Answer) => Items.parse(body["data"]);

async function convert(offer: { id: number }, fields: Record<string, unknown> = {}) {
  const body = { offer_id: offer.id, affiliate_id: affiliateId, ...fields };
  return record(await world.post("/conversions", body));
}

/** What ingress makes of the caps that the processors report as reached: the condition of a click on the offer. */
async function clickCondition({ id }: { id: number }): Promise<string> {
  await world.untilProcessorsKnow();
  const catalog = world.processorCatalog;
  const state = new LocalClickState(catalog);
  const nowMs = Date.now();
  for (const cap of await selectReachedCaps(world.pool, counterCapsOf(catalog), nowMs))
    state.noteReached(cap);
  const offer = catalog.offers.get(id);
  return offer === undefined ? "" : state.capCondition(offer, "UTC", nowMs);
}

/** Usage, inbox and clicks. The inbox counts exactly the caps of this offer that its own list shows. */
async function reachedEverywhere(offer: { id: number }): Promise<unknown[]> {
  const [row] = usageOf(await world.get(`/cap-usage?offer_id=${offer.id}`));
  const inbox = itemsOf(await world.get("/attention")).find(({ kind }) => kind === "caps");
  const query = new URLSearchParams({ ...inbox?.query, limit: "200" });
  const listed = inbox === undefined ? [] : usageOf(await world.get(`/cap-usage?${query}`));
  expect(listed).toHaveLength(inbox?.count ?? 0);
  return [
    row?.is_reached,
    listed.some(({ owner_id }) => owner_id === offer.id),
    await clickCondition(offer),
  ];
}

const OPEN = [false, false, ""];
const REACHED = [true, true, "cap"];

test("a money cap is reached when its cheapest price no longer fits: usage, inbox, clicks (#36, G231)", async () => {
  const offer = await world.offer({ payout: "15", caps: { payout: { daily: "40" } } });
  expect(await reachedEverywhere(offer)).toEqual(OPEN);
  await convert(offer);
  expect(await reachedEverywhere(offer)).toEqual(OPEN);
  await convert(offer);
  // 30 of 40: no third conversion fits, so no click is sent for one.
  expect(await reachedEverywhere(offer)).toEqual(REACHED);
  expect((await convert(offer))["status_reason"]).toBe("cap_exceeded");
  expect(await reachedEverywhere(offer)).toEqual(REACHED);
  // An event, or a partner's own payout, that still fits opens it again; a payout of 0 is no price.
  await world.post(`/offers/${offer.id}/events`, { code: "view", name: "View" });
  expect(await reachedEverywhere(offer)).toEqual(REACHED);
  await world.post(`/offers/${offer.id}/events`, { code: "lead", name: "Lead", payout: "10" });
  expect(await reachedEverywhere(offer)).toEqual(OPEN);
  await convert(offer, { event: "lead" });
  expect(await reachedEverywhere(offer)).toEqual(REACHED);
  await world.patch(`/offers/${offer.id}`, { caps: { payout: { daily: "49.9999" } } });
  expect(await reachedEverywhere(offer)).toEqual(REACHED);
  const own = {
    offer_id: offer.id,
    affiliate_id: affiliateId,
    payout_type: "cpa",
    payout: "9.9999",
  };
  await world.post("/payout-overrides", own);
  // Open, and in the inbox because more than 80 % are used.
  expect(await reachedEverywhere(offer)).toEqual([false, true, ""]);
});

test("without a fixed price a money cap is reached by the first refusal, until its limit rises (#36, G231)", async () => {
  const terms = { revenue_type: "rps", revenue: "10", payout_type: "cps", payout: "5" };
  const offer = await world.offer({ ...terms, caps: { revenue: { total: "40" } } });
  await convert(offer, { sale_amount: "300" });
  expect(await reachedEverywhere(offer)).toEqual(OPEN);
  expect((await convert(offer, { sale_amount: "200" }))["status_reason"]).toBe("cap_exceeded");
  expect(await reachedEverywhere(offer)).toEqual(REACHED);
  await world.patch(`/offers/${offer.id}`, { caps: { revenue: { total: "60" } } });
  expect(await reachedEverywhere(offer)).toEqual(OPEN);
  await world.patch(`/offers/${offer.id}`, { caps: { revenue: { total: "35" } } });
  expect(await reachedEverywhere(offer)).toEqual([true, true, "cap"]);
});

test("the cheapest price of a budget or a group is of an active offer in its currency (#36, G105, G231)", async () => {
  const made = record(await world.post("/advertisers", { name: "Cheapest" }));
  const ofMade = { advertiser_id: made.id, revenue: "15" };
  const [dear, cheap] = [await world.offer(ofMade), await world.offer({ ...ofMade, revenue: "2" })];
  await world.offer({ ...ofMade, currency: "EUR", revenue: "1" });
  const budget = { budget_caps: { revenue: { total: "40" } } };
  await world.patch(`/advertisers/${made.id}/settings`, budget);
  await world.post("/offer-groups", {
    name: "Cheapest",
    offer_ids: [dear.id, cheap.id],
    caps: { payout: { total: "1000" }, revenue: { total: "40" } },
  });
  await world.untilProcessorsKnow();
  const usd = async (): Promise<unknown[]> => [
    ...usageOf(await world.get(`/cap-usage?advertiser_id=${made.id}`)).flatMap((row) =>
      row.currency === "USD" ? [row.is_reached] : [],
    ),
    await clickCondition(dear),
  ];
  for (let n = 0; n < 2; n += 1) await convert(dear);
  expect(await usd()).toEqual([false, ""]);
  await world.patch(`/offers/${cheap.id}`, { status: "paused" });
  expect(await usd()).toEqual([true, "cap"]);
  await world.patch(`/offers/${cheap.id}`, { status: "active", revenue: "10.0001" });
  expect(await usd()).toEqual([true, "cap"]);
  await world.patch(`/offers/${cheap.id}`, { revenue: "10" });
  expect(await usd()).toEqual([false, ""]);
});

test("usage, inbox and clicks count what clicks cost against money caps (#36, G231, G232)", async () => {
  const perClick = { payout_type: "cpc", payout: "0.3" };
  const offer = await world.offer({ ...perClick, caps: { payout: { daily: "5" } } });
  const cost = async (amount: bigint): Promise<void> =>
    await noteClickMoney(world.pool, [
      {
        cap: `offer/${offer.id}/payout/daily/USD`,
        offerId: offer.id,
        period: "daily",
        timezone: "UTC",
        atMs: Date.now(),
        amount,
      },
    ]);
  await cost(39_000n);
  expect(await reachedEverywhere(offer)).toEqual(OPEN);
  await cost(48_000n);
  const [row] = usageOf(await world.get(`/cap-usage?offer_id=${offer.id}`));
  expect(row).toMatchObject({ used: "4.8000", share: 0.96, is_reached: true });
  expect(await reachedEverywhere(offer)).toEqual(REACHED);
});
