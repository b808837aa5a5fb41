import { expect, test } from "vitest";
import { ClickIdMint } from "../../../schemas/ids/click-id.ts";
import { systemClock } from "../../../schemas/time/clock.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { ADVERTISER_TOKEN, TrackingWorld } from "./tracking-world.ts";

const world = await forThisFile(TrackingWorld.open());
world.startWriters();
await world.nats.connection.flush();

async function errorOf(
  params: Record<string, string>,
  options = {},
): Promise<[number, unknown, string]> {
  const reply = await world.report(params, options);
  expect(reply.body.ok, JSON.stringify(reply)).toBe(false);
  return [reply.httpStatus, reply.body["error"], reply.result];
}

test("a missing, wrong or ambiguous token is 401 (PB-006, PB-007, PB-009, AUTH-021, AUTH-022, AUTH-023)", async () => {
  const click_id = "0".repeat(32);
  expect(await errorOf({ click_id, token: "" })).toEqual([401, "token required", "token_required"]);
  expect(await errorOf({ click_id, token: "x" })).toEqual([401, "invalid token", "invalid_token"]);
  await world.insert("advertiser", {
    workspace_id: world.workspaceId,
    name: "Other",
    currency: "USD",
    status: "paused",
    postback_token: "paused-token",
  });
  expect(await errorOf({ click_id, token: "paused-token" })).toEqual([
    401,
    "advertiser_inactive",
    "advertiser_inactive",
  ]);
  expect(await world.rows("select id from conversion")).toEqual([]);
  await world.insert("advertiser", {
    workspace_id: world.workspaceId,
    name: "Sharer",
    currency: "USD",
    postback_token: "paused-token",
  });
  expect(await errorOf({ click_id, token: "paused-token" })).toEqual([
    401,
    "invalid token",
    "invalid_token",
  ]);
});

test("a click id without a click of the workspace is refused (PB-029, PB-045, PB-057, G140)", async () => {
  const unknown = [200, "unknown click_id", "unknown_click"];
  expect(await errorOf({ click_id: "0".repeat(32) })).toEqual(unknown);
  expect(await errorOf({ click_id: "abc" })).toEqual([
    400,
    "invalid click_id (expected 32 hex characters)",
    "malformed",
  ]);
  const foreign = await world.insert("workspace", { slug: "f", name: "F", postback_token: "f" });
  expect(
    await errorOf({ click_id: (await world.addClick({ workspace_id: foreign })).click_id }),
  ).toEqual(unknown);
  expect(await errorOf({ click_id: (await world.addClick({ workspace_id: 0 })).click_id })).toEqual(
    unknown,
  );
  const mint = new ClickIdMint({ producer: 1, secret: world.catalog.secret, clock: systemClock });
  const old = mint.mint(Date.now() - 49 * 3_600_000, 0);
  expect(await errorOf({ click_id: old })).toEqual(unknown);
});

test("an ad ID without a click is refused (PB-030)", async () => {
  for (const kind of ["gclid", "gbraid", "wbraid", "msclkid"]) {
    expect(await errorOf({ [kind]: "none" })).toEqual([
      200,
      `no click found for ${kind}`,
      "unknown_click",
    ]);
  }
});

test("no match (PB-031, PB-032, PB-033, PB-034, PB-035, PB-036, PB-037, PB-010, PB-008, AUTH-020)", async () => {
  const [offerId, otherId] = [await world.addOffer(), await world.addOffer()];
  const { click_id } = await world.addClick({ offer_id: offerId });
  const { click_id: loose } = await world.addClick({ offer_id: 0 });
  expect(await errorOf({ aff_id: "PARTNR" })).toEqual([
    200,
    "offer_id required for a conversion without click",
    "error",
  ]);
  expect(await errorOf({ click_id: loose })).toEqual([
    200,
    "offer_id required: the click is not tied to an offer",
    "error",
  ]);
  expect(await errorOf({ click_id, offer_id: String(otherId) })).toEqual([
    200,
    "offer_id does not match the click",
    "error",
  ]);
  expect(await errorOf({ click_id, offer: "999999" })).toEqual([
    200,
    "unknown offer_id",
    "unknown_offer",
  ]);
  expect(await errorOf({ offer_id: String(offerId), aff_id: "999999" })).toEqual([
    200,
    "unknown aff_id",
    "error",
  ]);
  expect(await errorOf({ offer_id: String(offerId) })).toEqual([200, "unknown aff_id", "error"]);
  expect(await errorOf({ click_id, event: "zz" })).toEqual([
    400,
    "unknown event for this offer",
    "malformed",
  ]);
  expect(await errorOf({ click_id, coupon: "X", token: "nope" })).toEqual([
    401,
    "invalid token",
    "invalid_token",
  ]);
  expect(await errorOf({ coupon_code: "SAVE" })).toEqual([
    200,
    "unknown coupon_code",
    "coupon_error",
  ]);
  await world.insert("advertiser", {
    workspace_id: world.workspaceId,
    name: "Neighbour",
    currency: "USD",
    postback_token: "neighbour",
  });
  expect(await errorOf({ click_id, token: "neighbour" })).toEqual([
    401,
    "token not valid for this offer",
    "invalid_token",
  ]);
  await world.change("update offer set deleted_at = now() where id = $1", [offerId]);
  expect(await errorOf({ click_id })).toEqual([
    200,
    "offer of this click no longer exists",
    "unknown_offer",
  ]);
  await world.change("delete from offer_event where offer_id = $1", [otherId]);
  const { click_id: eventless } = await world.addClick({ offer_id: otherId });
  expect(await errorOf({ click_id: eventless })).toEqual([
    200,
    "offer has no default event",
    "error",
  ]);
});

test("offers, hosts and currencies that accept no report (PB-038, PB-039, PB-040, G197, #21, G221)", async () => {
  const offerId = await world.addOffer({ conversion_method: "pixel" });
  const { click_id } = await world.addClick({ offer_id: offerId });
  expect(await errorOf({ click_id })).toEqual([
    200,
    "offer does not accept server-to-server conversions",
    "error",
  ]);
  const plain = (await world.addClick({ offer_id: await world.addOffer() })).click_id;
  const noRate = await world.report(
    { click_id: plain, currency: "gbp", amount: "1" },
    { isSentOnce: true },
  );
  expect(noRate).toMatchObject({
    httpStatus: 503,
    result: "unavailable",
    retryAfterSeconds: 600,
    body: {
      ok: false,
      error: "temporarily unavailable",
      details: { reason: "no exchange rate for GBP" },
    },
  });
  const pixel = await world.report(
    { click_id: plain, currency: "GBP", amount: "1" },
    { endpoint: "px" },
  );
  expect(pixel).toMatchObject({ httpStatus: 200, body: { error: "no exchange rate for GBP" } });
  expect(pixel.hint).toMatch(/set one by POST \/fx-rates/);
  expect((await world.report({ click_id: plain, currency: "ZZZ", amount: "1" })).body).toEqual({
    ok: false,
    error: "invalid currency",
    details: { reason: "ZZZ is no currency" },
  });
  expect((await world.report({ click_id: plain, currency: "ZZZZ" })).body).toEqual({
    ok: false,
    error: "invalid currency",
  });
  expect(await errorOf({ click_id: plain, currency: "ZZZZ" })).toEqual([
    400,
    "invalid currency",
    "malformed",
  ]);
  const foreign = await world.insert("workspace", { slug: "h", name: "H", postback_token: "h" });
  await world.insert("tracking_domain", { workspace_id: foreign, host: "foreign.example" });
  expect(await errorOf({ click_id: plain }, { host: "foreign.example" })).toEqual([
    200,
    "this tracking domain does not serve the offer's workspace",
    "error",
  ]);
  await world.change("update workspace set status = 'inactive' where id = $1", [world.workspaceId]);
  expect(await errorOf({ click_id: plain })).toEqual([200, "workspace not active", "error"]);
  await world.change("update workspace set status = 'active' where id = $1", [world.workspaceId]);
});

test("digits that are an offer's code in another workspace still find our offer by ID (#13, G25)", async () => {
  const offerId = await world.addOffer();
  const other = await world.insert("workspace", { slug: "d", name: "D", postback_token: "d" });
  const advertiser = { workspace_id: other, name: "D", currency: "USD", postback_token: "da" };
  await world.addOffer({
    workspace_id: other,
    advertiser_id: await world.insert("advertiser", advertiser),
    code: String(offerId),
  });
  const named = { offer_id: String(offerId), aff_id: String(world.affiliateId) };
  expect((await world.report({ ...named, test: "1" })).body).toMatchObject({ ok: true });
});

test("a pixel with an offer but no click is told what is missing, /pb what it always was (#17, G116)", async () => {
  const offerId = await world.addOffer();
  const offer_id = String(offerId);
  const px = await world.report({ offer_id }, { endpoint: "px" });
  expect(px.body).toEqual({
    ok: false,
    error:
      "click_id required: no click_id, gclid, gbraid, wbraid or msclkid was sent, and no cookie trk_cid. A browser sends this " +
      "cookie to another site only over https, and some browsers never do. Without a click, aff_id is required",
  });
  const wrong = await world.report({ offer_id, aff_id: "NOBODY" }, { endpoint: "px" });
  expect(wrong.body).toEqual({ ok: false, error: "unknown aff_id" });
  const pb = await world.report({ offer_id });
  expect(pb.body).toEqual({ ok: false, error: "unknown aff_id" });
});

test("a pixel without click, or for servers only, is refused (PX-003, PX-007, PX-008, PX-010)", async () => {
  const px = { endpoint: "px" as const };
  const offerId = await world.addOffer({ conversion_method: "s2s" });
  const { click_id } = await world.addClick({ offer_id: offerId });
  expect(await errorOf({}, px)).toEqual([400, "click_id required", "malformed"]);
  expect(await errorOf({ click_id }, px)).toEqual([
    200,
    "offer does not accept pixel conversions",
    "error",
  ]);
  expect(await errorOf({ conversion_id: "1a1b1c1d-0000-4000-8000-000000000000" }, px)).toEqual([
    400,
    "conversion_id updates need a server-to-server postback",
    "malformed",
  ]);
});

test("test=1 checks everything and stores nothing (PB-024, PB-025, T64)", async () => {
  const offerId = await world.addOffer({
    payout_type: "cps",
    payout: "10",
    caps: { conversions: { total: 1 } },
  });
  const { click_id } = await world.addClick({ offer_id: offerId });
  for (let i = 0; i < 2; i += 1) {
    const reply = await world.report({ click_id, amount: "50", test: "1" });
    expect(reply).toMatchObject({ result: "test", httpStatus: 200 });
    expect(reply.body).toEqual({
      ok: true,
      conversion_id: null,
      status: "approved",
      test: true,
      details: {
        event: "default",
        payout: "5.0000",
        revenue: "15.0000",
        currency: "USD",
        reason: "",
      },
    });
  }
  const foreign = await world.report({ click_id, test: "1", token: ADVERTISER_TOKEN });
  expect(foreign.body["details"]).not.toHaveProperty("payout");
  expect(await errorOf({ click_id: "0".repeat(32), test: "1" })).toEqual([
    200,
    "unknown click_id",
    "unknown_click",
  ]);
  expect(await world.rows("select cap from cap_counter")).toEqual([]);
});

test("none of the reports above stored a conversion (PB-058)", async () => {
  expect(await world.rows("select id from conversion")).toEqual([]);
  expect(await world.rows("select id from conversion_fact_outbox")).toEqual([]);
});
