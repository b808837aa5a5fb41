import { beforeEach, expect, test } from "vitest";
import { noteClickMoney } from "../../../processors/clicks/caps/note-click-money.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { TrackingWorld } from "./tracking-world.ts";

const SENDERS = 64;

const world = await forThisFile(TrackingWorld.open({ lanes: 3 }));
beforeEach(async () => {
  await world.change("delete from conversion_rule");
});

async function reasonOf(params: Record<string, string>): Promise<string> {
  const { body } = await world.report(params);
  return [body["status"], body["reason"]].filter((word) => typeof word === "string").join(" ");
}

async function aRule(columns: Record<string, unknown>): Promise<void> {
  await world.insert("conversion_rule", { workspace_id: world.workspaceId, ...columns });
}

test("the first matching rule decides; changed rules apply at once (LIFE-015, G100)", async () => {
  const offerId = await world.addOffer({ hold_days: "1" });
  const clickId = async (): Promise<string> =>
    (await world.addClick({ offer_id: offerId, country: "DE" })).click_id;
  await aRule({ name: "late", action: "hold", position: 3 });
  await aRule({
    name: "small",
    action: "reject",
    position: 2,
    conditions: { max_sale_amount: "5" },
  });
  await aRule({
    name: "german",
    action: "hold",
    position: 1,
    conditions: { countries: ["de"], min_sale_amount: "100" },
  });
  await aRule({ name: "off", action: "reject", position: 0, status: "paused" });
  expect(await reasonOf({ click_id: await clickId(), amount: "5" })).toBe("rejected rule:small");
  expect(await reasonOf({ click_id: await clickId(), amount: "100" })).toBe("pending rule:german");
  expect(await reasonOf({ click_id: await clickId(), amount: "50" })).toBe("pending rule:late");
  // A conversion held by a rule waits for a person, not for the end of the offer's hold.
  expect(
    await world.rows(
      "select id from conversion where status_reason like 'rule:%' and hold_until is not null",
    ),
  ).toEqual([]);
  await world.change("delete from conversion_rule");
  expect(await reasonOf({ click_id: await clickId(), amount: "5" })).toBe("pending hold");
});

test("a reject rule is checked before caps, a hold rule after caps and a given status (LIFE-015, G96)", async () => {
  const offerId = await world.addOffer({ caps: { conversions: { total: 1 } } });
  const clickId = async (): Promise<string> =>
    (await world.addClick({ offer_id: offerId, sub1: "s" })).click_id;
  await aRule({ name: "held", action: "hold", conditions: { sub: { sub1: ["s"] } } });
  expect(await reasonOf({ click_id: await clickId(), status: "rejected" })).toBe(
    "rejected postback",
  );
  expect(await reasonOf({ click_id: await clickId() })).toBe("pending rule:held");
  expect(await reasonOf({ click_id: await clickId() })).toBe("rejected cap_exceeded");
  await aRule({ name: "no", action: "reject" });
  expect(await reasonOf({ click_id: await clickId() })).toBe("rejected rule:no");
});

test("a conversion after the daily cap of its offer is rejected (LIFE-020, G39)", async () => {
  const offerId = await world.addOffer({ caps: { conversions: { daily: 1 } } });
  const next = async (): Promise<string> =>
    reasonOf({ click_id: (await world.addClick({ offer_id: offerId })).click_id });
  expect(await next()).toBe("approved");
  expect(await next()).toBe("rejected cap_exceeded");
});

test("offers of a group share its caps, which approve exactly as many (P17, LIFE-021, G105)", async () => {
  const offers = [await world.addOffer(), await world.addOffer(), await world.addOffer()];
  const groupId = await world.insert("offer_group", {
    workspace_id: world.workspaceId,
    name: "together",
    offer_ids: offers.slice(0, 2),
    caps: { conversions: { daily: 7 }, payout: { total: "1000" } },
  });
  const clicks = Array.from({ length: SENDERS }, (_, i) =>
    world.aClick({ offer_id: offers[i % 2] ?? 0 }),
  );
  await world.storeClicks(clicks);
  const replies = await Promise.all(
    clicks.map((click) => world.report({ click_id: click.click_id })),
  );
  expect(replies.filter(({ result }) => result === "approved")).toHaveLength(7);
  expect(replies.filter(({ body }) => body["reason"] === "cap_exceeded")).toHaveLength(SENDERS - 7);
  const alone = await world.addClick({ offer_id: offers[2] ?? 0 });
  expect(await reasonOf({ click_id: alone.click_id })).toBe("approved");
  await world.change("update offer_group set offer_ids = $2 where id = $1", [
    groupId,
    offers.slice(1),
  ]);
  const free = await world.addClick({ offer_id: offers[0] ?? 0 });
  expect(await reasonOf({ click_id: free.click_id })).toBe("approved");
});

test("an alert-only cap of a group keeps the conversion and flags it (LIFE-022, G40)", async () => {
  const offerId = await world.addOffer();
  await world.insert("offer_group", {
    workspace_id: world.workspaceId,
    name: "watched",
    offer_ids: [offerId],
    caps: { revenue: { monthly: "15" }, alert_only: true },
  });
  for (const flag of [false, true]) {
    const click = await world.addClick({ offer_id: offerId });
    const { body } = await world.report({ click_id: click.click_id });
    expect(await world.conversion(body["conversion_id"])).toMatchObject({
      status: "approved",
      cap_alert: flag,
    });
  }
});

test("what clicks cost counts against payout and revenue caps of conversions (#36, G39, G232)", async () => {
  const offerId = await world.addOffer({ caps: { payout: { total: "25" } } });
  const cap = `offer/${offerId}/payout/total/USD`;
  const clicksCost = (amount: bigint): Promise<void> =>
    noteClickMoney(world.pool, [
      { cap, offerId, period: "total", timezone: "UTC", atMs: Date.now(), amount },
    ]);
  const next = async (): Promise<unknown> =>
    reasonOf({ click_id: (await world.addClick({ offer_id: offerId })).click_id });
  expect(await next()).toBe("approved");
  // 10.0000 of the conversion, 5.0000 of clicks: the next one fits exactly.
  await clicksCost(50_000n);
  expect(await next()).toBe("approved");
  expect(await next()).toBe("rejected cap_exceeded");
  const other = await world.addOffer({ caps: { payout: { total: "25" } } });
  await noteClickMoney(world.pool, [
    {
      cap: `offer/${other}/payout/total/USD`,
      offerId: other,
      period: "total",
      timezone: "UTC",
      atMs: Date.now(),
      amount: 150_001n,
    },
  ]);
  const click = await world.addClick({ offer_id: other });
  expect(await reasonOf({ click_id: click.click_id })).toBe("rejected cap_exceeded");
});

test("a coupon credits its partner and offer without a click, in any letter case (PB-021, G115)", async () => {
  const offerId = await world.addOffer();
  await world.insert("coupon", {
    workspace_id: world.workspaceId,
    code: "Save10",
    offer_id: offerId,
    affiliate_id: world.affiliateId,
  });
  const { body } = await world.report({ coupon: "SAVE10", txid: "C-1", aff_id: "nobody" });
  expect(await world.conversion(body["conversion_id"])).toMatchObject({
    status: "approved",
    offer_id: offerId,
    affiliate_id: world.affiliateId,
    click_id: null,
    click: { link_type: "coupon" },
    params: { coupon_code: "SAVE10" },
    payout: "10.0000",
  });
  expect(await reasonOf({ coupon_code: "save10", txid: "C-1" })).toBe("rejected duplicate");
  const pixel = await world.report({ coupon_code: "save10" }, { endpoint: "px" });
  expect(pixel.body).toMatchObject({ ok: true, status: "approved" });
  const click = await world.addClick({ offer_id: await world.addOffer() });
  const clicked = await world.report({ coupon_code: "save10", click_id: click.click_id });
  expect(await world.conversion(clicked.body["conversion_id"])).toMatchObject({
    click_id: click.click_id,
    params: { coupon_code: "save10" },
  });
});

test("each coupon error has its text and the result coupon_error (PB-043, PB-064)", async () => {
  const [one, two] = [await world.addOffer(), await world.addOffer({ code: "TWO" })];
  const coupon = async (code: string, columns: Record<string, unknown>): Promise<void> => {
    await world.insert("coupon", {
      workspace_id: world.workspaceId,
      code,
      affiliate_id: world.affiliateId,
      ...columns,
    });
  };
  const day = (offset: number): string => new Date(Date.now() + offset * 86_400_000).toISOString();
  await coupon("OFF", { offer_id: one, status: "inactive" });
  await coupon("EARLY", { offer_id: one, starts_at: day(1) });
  await coupon("LATE", { offer_id: one, ends_at: day(-1) });
  await coupon("ONE", { offer_id: one, starts_at: day(-1), ends_at: day(1) });
  await coupon("ALL", { offer_id: null });
  await coupon("GONE", { offer_id: one, affiliate_id: 999_999 });
  const refusals: [Record<string, string>, string][] = [
    [{ coupon_code: "NOPE" }, "unknown coupon_code"],
    [{ coupon_code: "OFF" }, "coupon_code not active"],
    [{ coupon_code: "EARLY" }, "coupon_code not active"],
    [{ coupon_code: "LATE" }, "coupon_code not active"],
    [{ coupon_code: "ONE", offer_id: "TWO" }, "coupon_code not valid for this offer"],
    [{ coupon_code: "ALL" }, "offer_id required with coupon_code"],
    [{ coupon_code: "GONE" }, "coupon partner not found"],
  ];
  for (const [params, error] of refusals) {
    const reply = await world.report(params);
    expect(reply).toMatchObject({
      httpStatus: 200,
      result: "coupon_error",
      body: { ok: false, error },
    });
  }
  expect(await reasonOf({ coupon_code: "ALL", offer_id: String(two) })).toBe("approved");
  expect(await reasonOf({ coupon_code: "ONE" })).toBe("approved");
});

test("more clicks of one address than allowed reject, also while they are young (LIFE-028, G101)", async () => {
  const offerId = await world.addOffer({ fraud_checks: { duplicate_click_ip: 2 } });
  const ip = "203.0.113.50";
  const clicks = [3, 2].map((minutes) =>
    world.aClick({ offer_id: offerId, ip, ageMs: minutes * 60_000 }),
  );
  const old = world.aClick({ offer_id: offerId, ip, ageMs: 25 * 3_600_000 });
  const elsewhere = world.aClick({ offer_id: await world.addOffer(), ip });
  await world.storeClicks([...clicks, old, elsewhere]);
  expect(await reasonOf({ click_id: clicks[0]?.click_id ?? "" })).toBe("approved");
  world.startWriters();
  const young = world.addYoungClick({ offer_id: offerId, ip });
  const reply = reasonOf({ click_id: young.click_id });
  // Its writer stores it while the report waits.
  await world.storeClicks([young]);
  expect(await reply).toBe("rejected fraud:duplicate_click_ip");
  expect(await reasonOf({ click_id: clicks[1]?.click_id ?? "" })).toBe(
    "rejected fraud:duplicate_click_ip",
  );
});

test("64 concurrent conversions of one address approve exactly as many as allowed (LIFE-029, G101, G102)", async () => {
  const offerId = await world.addOffer({ fraud_checks: { duplicate_conv_ip: 3 } });
  const clicks = Array.from({ length: SENDERS }, () => world.aClick({ offer_id: offerId }));
  await world.storeClicks(clicks);
  const replies = await Promise.all(
    clicks.map((click) => world.report({ click_id: click.click_id, ip: "198.51.100.9" })),
  );
  expect(replies.filter(({ result }) => result === "approved")).toHaveLength(3);
  expect(replies.filter(({ body }) => body["reason"] === "fraud:duplicate_conv_ip")).toHaveLength(
    SENDERS - 3,
  );
  // The sender's address is not a visitor's, and a click without an address has none to compare.
  const silent = await world.addClick({ offer_id: offerId });
  expect(await reasonOf({ click_id: silent.click_id })).toBe("approved");
  const sameClickIp = await world.addClick({ offer_id: offerId, ip: "198.51.100.9" });
  expect(await reasonOf({ click_id: sameClickIp.click_id })).toBe(
    "rejected fraud:duplicate_conv_ip",
  );
});

test("concurrent conversions of one /24 or /48 approve exactly as many as allowed (LIFE-030, G101)", async () => {
  const offerId = await world.addOffer({ fraud_checks: { duplicate_conv_subnet24: 2 } });
  const clicks = Array.from({ length: 24 }, () => world.aClick({ offer_id: offerId }));
  await world.storeClicks(clicks);
  const pixels = await Promise.all(
    clicks.map((click, i) =>
      world.report(
        { click_id: click.click_id },
        { endpoint: "px", ip: i % 2 === 0 ? `192.0.2.${i}` : `2001:db8:77:${i}::1` },
      ),
    ),
  );
  expect(pixels.filter(({ result }) => result === "approved")).toHaveLength(4);
  expect(
    pixels.filter(({ body }) => body["reason"] === "fraud:duplicate_conv_subnet24"),
  ).toHaveLength(20);
});

test("a test report counts no address and no cap (LIFE-029, PB-024, T64)", async () => {
  const offerId = await world.addOffer({
    fraud_checks: { duplicate_conv_ip: 1 },
    caps: { conversions: { total: 1 } },
  });
  const click = await world.addClick({ offer_id: offerId, ip: "198.51.100.77" });
  for (let i = 0; i < 2; i += 1)
    expect(await reasonOf({ click_id: click.click_id, test: "1" })).toBe("approved");
  expect(
    await world.rows("select used from cap_counter where cap like $1", [`offer/${offerId}/%`]),
  ).toEqual([]);
  expect(await reasonOf({ click_id: click.click_id })).toBe("approved");
});
