import { expect, test } from "vitest";
import { forThisFile } from "../../services/for-this-file.ts";
import { ApiWorld, details, record, refusal } from "./api-world.ts";

const world = await forThisFile(ApiWorld.open());
const foreign = await world.addTenant("foreign");
const offer = await world.offer();
const otherOffer = (await world.offer()).id;
const paths = {
  offer: `/offers/${String(offer["code"])}/settings`,
  affiliate: `/affiliates/${world.tenant.affiliateCode}/settings`,
  advertiser: `/advertisers/${world.tenant.advertiserId}/settings`,
};

const OFFER = {
  hold_days: 0,
  min_seconds_to_conversion: 0,
  duplicate_click_seconds: 0,
  unique_click_hours: 24,
  fraud_checks: null,
  terms: null,
  fail_route_offer_id: null,
  txid_scope: "offer",
  pass_parameters: "none",
  access_questions: [],
  auto_approve_tiers: [],
  reapply_days: 30,
};

test("settings of an offer are read and changed separately (G98, G101, G103, G145, G189, G220)", async () => {
  expect((await world.get(paths.offer)).body).toEqual({ data: OFFER });
  const change = {
    hold_days: 0.5,
    txid_scope: "event",
    fraud_checks: { bot: true, duplicate_click_ip: 5 },
    terms: "No brand bidding",
    fail_route_offer_id: otherOffer,
    pass_parameters: "utm",
  };
  expect((await world.patch(paths.offer, change)).body).toEqual({ data: { ...OFFER, ...change } });
  expect((await world.patch(paths.offer, { fraud_checks: null })).body).toEqual({
    data: { ...OFFER, ...change, fraud_checks: null },
  });
  expect((await world.get(paths.offer)).body).toEqual({
    data: { ...OFFER, ...change, fraud_checks: null },
  });
});

test("settings of partners and advertisers are read and changed (G98, G99, G105, G184)", async () => {
  expect((await world.get(paths.affiliate)).body).toEqual({
    data: { throttle_percent: 0, hold_days: null },
  });
  const affiliate = { throttle_percent: 25, hold_days: 7 };
  expect((await world.patch(paths.affiliate, affiliate)).body).toEqual({ data: affiliate });
  expect((await world.patch(paths.affiliate, { hold_days: null })).body).toEqual({
    data: { throttle_percent: 25, hold_days: null },
  });
  expect((await world.get(paths.advertiser)).body).toEqual({
    data: { postback_ip_allowlist: [], budget_caps: {} },
  });
  const advertiser = {
    postback_ip_allowlist: ["203.0.113.7", "2001:db8::/32"],
    budget_caps: { revenue: { monthly: "1000.0000" } },
  };
  expect((await world.patch(paths.advertiser, advertiser)).body).toEqual({ data: advertiser });
});

test.each([
  ["offer", "hold_days", { hold_days: -1 }],
  ["offer", "hold_days", { hold_days: "7" }],
  ["offer", "unique_click_hours", { unique_click_hours: 0 }],
  ["offer", "fail_route_offer_id", { fail_route_offer_id: 999_999 }],
  ["offer", "pass_parameters", { pass_parameters: "some" }],
  ["offer", "fraud_checks.magic", { fraud_checks: { magic: true } }],
  ["offer", "fraud_checks.duplicate_click_ip", { fraud_checks: { duplicate_click_ip: 0 } }],
  ["offer", "name", { name: "x" }],
  ["affiliate", "throttle_percent", { throttle_percent: 101 }],
  ["advertiser", "postback_ip_allowlist[0]", { postback_ip_allowlist: ["localhost"] }],
  ["advertiser", "budget_caps.revenue.daily", { budget_caps: { revenue: { daily: 5 } } }],
] as const)(
  "settings of an %s: a wrong %s is refused with its name",
  async (which, field, body) => {
    const answer = await world.patch(paths[which], body);
    expect(refusal(answer)).toBe("400 validation_failed");
    expect(Object.keys(details(answer).fields ?? {})).toEqual([field]);
  },
);

test("only staff of the workspace read settings, only admins write them", async () => {
  const { keys } = world.tenant;
  for (const path of Object.values(paths)) {
    expect((await world.get(path, keys.analyst)).status).toBe(200);
    expect(refusal(await world.patch(path, {}, keys.analyst))).toBe("403 read_only_key");
    expect(refusal(await world.get(path, keys.partner))).toBe("403 forbidden");
    expect(refusal(await world.get(path, keys.advertiser))).toBe("403 forbidden");
    expect((await world.get(path, foreign.keys.admin)).status).toBe(404);
    expect((await world.patch(path, {}, foreign.keys.admin)).status).toBe(404);
  }
});

test("a body that changes nothing leaves updated_at (G28)", async () => {
  const before = record(await world.get(paths.offer.replace("/settings", "")));
  await world.patch(paths.offer, {});
  const after = record(await world.get(paths.offer.replace("/settings", "")));
  expect(after["updated_at"]).toBe(before["updated_at"]);
});

test("a window longer than the retention of visitors is refused with the reason (#3)", async () => {
  const origin = await world.startAnother({ clickRetentionDays: 31 });
  const body = { unique_click_hours: 745, duplicate_click_seconds: 31 * 86_400 + 1 };
  const change = async (fields: unknown) =>
    await world.callAt(origin, "PATCH", paths.offer, { body: fields });
  const refused = await change(body);
  expect(refusal(refused)).toBe("400 validation_failed");
  expect(details(refused).fields).toEqual({
    unique_click_hours:
      "at most 744, because clicks keep their visitor's data for 31 days (CLICK_RETENTION_DAYS of the installation)",
    duplicate_click_seconds:
      "at most 2678400, because clicks keep their visitor's data for 31 days (CLICK_RETENTION_DAYS of the installation)",
  });
  const longest = { unique_click_hours: 744, duplicate_click_seconds: 31 * 86_400 };
  expect((await change(longest)).status).toBe(200);
  expect((await world.patch(paths.offer, { unique_click_hours: 745 })).status).toBe(200);
});
