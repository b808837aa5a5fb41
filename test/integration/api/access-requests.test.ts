import { beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { lockForAccess } from "../../../api/catalog/offers/set-partner-access.ts";
import { inTransaction } from "../../../schemas/postgres/transaction.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { type Answer, details, nextCursor, record, refusal, someText } from "./api-world.ts";
import { untilWaiting } from "./locked-table.ts";
import { WebhookWorld } from "./webhook-world.ts";

const hooks = await forThisFile(WebhookWorld.open());
const world = hooks.api;
const { keys } = world.tenant;

beforeEach(async () => {
  await hooks.reset();
});

const Request = z.looseObject({
  offer_id: z.int(),
  affiliate_id: z.int(),
  status: z.string(),
});
const Requests = z.array(Request);
const Decided = z.object({
  updated: Requests,
  skipped: z.array(z.looseObject({ status: z.string() })),
  not_found: z.array(z.object({ offer_id: z.int(), affiliate_id: z.int() })),
});

const dataOf = ({ body }: Answer): Record<string, unknown> =>
  z.record(z.string(), z.unknown()).parse(body["data"]);
const decided = ({ body }: Answer) => Decided.parse(body["data"]);
const pathOf = (offer: { id: number }): string => `/offers/${offer.id}/access-request`;
const ask = async (offer: { id: number }, body: unknown = {}, key = keys.partner) =>
  await world.post(pathOf(offer), body, key);
const approval = async (fields = {}) => await world.offer({ visibility: "approval", ...fields });

/** Another partner of the workspace, with a key. */
async function addPartner(fields: Record<string, unknown> = {}) {
  const made = record(await world.post("/affiliates", { name: "Other", ...fields }));
  const body = { role: "partner", affiliate_id: made.id };
  const { key } = z.looseObject({ key: z.string() }).parse(dataOf(await world.post("/keys", body)));
  return { id: Number(made.id), code: String(made["code"]), key };
}

test("a partner asks for access, changes its request, and the staff sees it (N31, G50, G129)", async () => {
  const hook = await hooks.listen("asked", ["access.requested", "access.decided"]);
  const offer = await approval();
  const made = await ask(offer, { message: "I have a newsletter" });
  expect(made.status).toBe(201);
  const { affiliateId, affiliateCode } = world.tenant;
  expect(dataOf(made)).toEqual({
    offer_id: offer.id,
    offer_code: offer["code"],
    offer_name: "Offer",
    affiliate_id: affiliateId,
    affiliate_code: affiliateCode,
    affiliate_name: "Partner",
    status: "pending",
    reply: "",
    message: "I have a newsletter",
    answers: {},
    requested_at: someText,
    decided_at: null,
  });
  const again = await ask(offer, { message: "And a blog" });
  expect(again.status).toBe(200);
  expect(dataOf(again)).toEqual({ ...dataOf(made), message: "And a blog" });
  const seen = record(await world.get(`/offers/${offer.id}`, keys.partner));
  expect(seen).toMatchObject({ access_status: "pending", can_run: false });
  const listed = Requests.parse(
    (await world.get(`/access-requests?offer_id=${offer.id}`)).body["data"],
  );
  expect(listed).toEqual([{ ...dataOf(again), note: "" }]);
  const [document] = await hooks.told(hook, 1);
  expect(document).toMatchObject({
    event: "access.requested",
    data: { offer_id: offer.id, affiliate_id: affiliateId, status: "pending", note: "" },
  });
  await world.patch("/access-requests", {
    items: [{ offer_id: offer.id, affiliate_id: affiliateId }],
    status: "approved",
    note: "checked",
  });
  const [, decision] = await hooks.told(hook, 2);
  expect(decision).toMatchObject({
    event: "access.decided",
    data: { offer_id: offer.id, status: "approved", note: "checked" },
  });
  expect(record(await world.get(`/offers/${offer.id}`, keys.partner))).toMatchObject({
    access_status: "approved",
    can_run: true,
  });
  expect(refusal(await ask(offer))).toBe("409 conflict");
  // The note of the staff is not for the partner.
  expect((await world.get(pathOf(offer), keys.partner)).text).not.toContain("checked");
  expect(await hooks.deliveries(hook)).toHaveLength(2);
});

test("what cannot be asked for is refused (N31, G49)", async () => {
  const open = await world.offer();
  expect(refusal(await ask(open))).toBe("409 conflict");
  const hidden = await world.offer({ visibility: "private" });
  expect(refusal(await ask(hidden))).toBe("404 not_found");
  expect(refusal(await world.get(pathOf(hidden), keys.partner))).toBe("404 not_found");
  const foreign = await world.offer(
    { visibility: "approval", advertiser_id: hooks.foreign.advertiserId },
    hooks.foreign.keys.admin,
  );
  for (const method of ["GET", "POST", "DELETE"]) {
    const body = method === "POST" ? {} : undefined;
    const answer = await world.call(method, pathOf(foreign), { key: keys.partner, body });
    expect(refusal(answer)).toBe("404 not_found");
  }
  const offer = await approval();
  expect(refusal(await ask(offer, {}, keys.admin))).toBe("403 forbidden");
  expect(refusal(await ask(offer, {}, keys.advertiser))).toBe("403 forbidden");
  expect(refusal(await ask(offer, {}, keys.analyst))).toBe("403 read_only_key");
});

test("a rejected partner asks again after the days of the offer, but not for a public offer (N31)", async () => {
  const offer = await approval();
  const id = world.tenant.affiliateId;
  const reject = { items: [{ offer_id: offer.id, affiliate_id: id }], status: "rejected" };
  await ask(offer);
  await world.patch("/access-requests", { ...reject, note: "no traffic" });
  const early = await ask(offer);
  expect(refusal(early)).toBe("409 conflict");
  expect(details(early).field).toBe("status");
  const form = dataOf(await world.get(pathOf(offer), keys.partner));
  expect(form).toMatchObject({ can_request: false, request: { status: "rejected" } });
  const days = (Date.parse(String(form["can_request_from"])) - Date.now()) / 86_400_000;
  expect(days).toBeGreaterThan(29.9);
  expect(days).toBeLessThanOrEqual(30);
  await world.patch(`/offers/${offer.id}/settings`, { reapply_days: 0 });
  const later = await ask(offer, { message: "more traffic now" });
  expect(later.status).toBe(201);
  expect(dataOf(later)).toMatchObject({ status: "pending", decided_at: null });
  const [row] = Requests.parse(
    (await world.get(`/access-requests?offer_id=${offer.id}`)).body["data"],
  );
  expect(row).toMatchObject({ note: "", message: "more traffic now" });

  const open = await world.offer();
  await world.patch(`/offers/${open.id}/settings`, { reapply_days: 0, terms: "No brand bidding" });
  await world.call("PUT", `/offers/${open.id}/affiliates/${world.tenant.affiliateCode}`, {
    body: { status: "rejected" },
  });
  expect(refusal(await ask(open))).toBe("409 conflict");
  expect(record(await world.get(`/offers/${open.id}`, keys.partner))).toMatchObject({
    access_status: "rejected",
    can_run: false,
  });
});

test("a request may accept the terms of the offer, by the hash of their text (N31, G189)", async () => {
  const offer = await approval();
  expect(details(await ask(offer, { accept_terms: "0".repeat(64) })).field).toBe("accept_terms");
  await world.patch(`/offers/${offer.id}/settings`, { terms: "No brand bidding" });
  const { hash } = dataOf(await world.get(`/offers/${offer.id}/terms`, keys.partner));
  const wrong = await ask(offer, { accept_terms: "0".repeat(64) });
  expect([refusal(wrong), details(wrong).field]).toEqual(["409 conflict", "accept_terms"]);
  // A refused request leaves nothing behind.
  expect((await world.get(`/access-requests?offer_id=${offer.id}`)).body["data"]).toEqual([]);
  expect((await ask(offer, { accept_terms: hash })).status).toBe(201);
  expect(dataOf(await world.get(`/offers/${offer.id}/terms`, keys.partner))).toMatchObject({
    accepted: true,
  });
  // Withdrawing keeps the acceptance, and is in no list.
  expect((await world.call("DELETE", pathOf(offer), { key: keys.partner })).body).toEqual({
    data: { offer_id: offer.id, withdrawn: true },
  });
  expect(dataOf(await world.get(`/offers/${offer.id}/terms`, keys.partner))).toMatchObject({
    accepted: true,
  });
  expect((await world.get(`/access-requests?offer_id=${offer.id}`)).body["data"]).toEqual([]);
  expect(refusal(await world.call("DELETE", pathOf(offer), { key: keys.partner }))).toBe(
    "404 not_found",
  );
  expect((await ask(offer)).status).toBe(201);
});

const QUESTIONS = [
  { key: "site", label: "Your site?", kind: "url", required: true, options: [] },
  {
    key: "kind",
    label: "What traffic?",
    kind: "choice",
    required: false,
    options: ["mail", "web"],
  },
  { key: "more", label: "Which of these?", kind: "multi", required: false, options: ["a", "b"] },
  { key: "visitors", label: "How many?", kind: "number", required: false, options: [] },
  { key: "adult", label: "Adult?", kind: "boolean", required: false, options: [] },
  { key: "land", label: "Where?", kind: "country", required: false, options: [] },
  { key: "name", label: "Who?", kind: "text", required: false, options: [] },
];

test("answers to the questions of the offer are checked one by one, and stored (N31)", async () => {
  const offer = await approval();
  const settings = `/offers/${offer.id}/settings`;
  await world.patch(settings, { access_questions: QUESTIONS });
  expect(dataOf(await world.get(pathOf(offer), keys.partner))).toEqual({
    offer_id: offer.id,
    questions: QUESTIONS,
    can_request: true,
    can_request_from: null,
    request: null,
  });
  const bad = {
    site: "not an address",
    kind: "phone",
    more: ["a", "a"],
    visitors: "many",
    adult: "yes",
    land: "XX",
    name: 7,
    other: 1,
  };
  const refused = await ask(offer, { answers: bad, message: "m".repeat(2_001), accept_terms: "x" });
  expect(refusal(refused)).toBe("400 validation_failed");
  expect(Object.keys(details(refused).fields).sort()).toEqual(
    ["accept_terms", "message", ...Object.keys(bad).map((key) => `answers.${key}`)].sort(),
  );
  expect(Object.keys(details(await ask(offer, {})).fields)).toEqual(["answers.site"]);
  const answers = {
    site: "https://blog.example/",
    kind: "mail",
    more: ["b"],
    visitors: 12.5,
    adult: false,
  };
  expect(dataOf(await ask(offer, { answers }))).toMatchObject({ answers });
  for (const wrong of [
    [{ key: "A", label: "x", kind: "text" }],
    [{ key: "a", label: "x", kind: "choice" }],
    [{ key: "a", label: "x", kind: "color" }],
    [
      { key: "a", label: "x", kind: "text" },
      { key: "a", label: "y", kind: "text" },
    ],
    Array.from({ length: 31 }, (_, i) => ({ key: `k${i}`, label: "x", kind: "text" })),
  ])
    expect(refusal(await world.patch(settings, { access_questions: wrong }))).toBe(
      "400 validation_failed",
    );
  for (const [field, value] of [
    ["reapply_days", -1],
    ["auto_approve_tiers", "gold"],
  ] as const)
    expect(Object.keys(details(await world.patch(settings, { [field]: value })).fields)).toEqual([
      field,
    ]);
});

test("partners of the tiers that an offer names are approved at once, with both events (N31)", async () => {
  const offer = await approval();
  await world.patch(`/offers/${offer.id}/settings`, { auto_approve_tiers: ["gold"] });
  const hook = await hooks.listen("auto", ["access.requested", "access.decided"]);
  const gold = await addPartner({ tier: "gold" });
  const other = await addPartner({ tier: "silver" });
  expect(dataOf(await ask(offer, {}, gold.key))).toMatchObject({ status: "approved" });
  expect(dataOf(await ask(offer, {}, other.key))).toMatchObject({ status: "pending" });
  const told = (await hooks.told(hook, 3)).map((document) => [
    document.event,
    z.looseObject({ status: z.string() }).parse(document.data).status,
  ]);
  expect(told.map((one) => one.join(" ")).toSorted()).toEqual([
    "access.decided approved",
    "access.requested pending",
    "access.requested pending",
  ]);
});

test("requests of a workspace are listed page by page, newest first, with filters", async () => {
  const offers = [await approval(), await approval(), await approval()];
  const partner = await addPartner();
  for (const offer of offers) await ask(offer, {}, partner.key);
  const [first, second, third] = offers.map(({ id }) => id);
  const path = `/access-requests?affiliate_id=${partner.id}`;
  const idsOf = (answer: Answer) => Requests.parse(answer.body["data"]).map((row) => row.offer_id);
  expect(idsOf(await world.get(path))).toEqual([third, second, first]);
  const page = await world.get(`${path}&limit=2`);
  const rest = await world.get(`${path}&limit=2&cursor=${String(nextCursor(page))}`);
  expect([idsOf(page), idsOf(rest), nextCursor(rest)]).toEqual([[third, second], [first], null]);
  await world.patch("/access-requests", {
    items: [{ offer_id: second, affiliate_id: partner.id }],
    status: "rejected",
  });
  expect(idsOf(await world.get(`${path}&status=pending`))).toEqual([third, first]);
  expect(idsOf(await world.get(`${path}&status=rejected`))).toEqual([second]);
  for (const [param, value] of [
    ["status", "open"],
    ["offer_id", "x"],
    ["affiliate_id", "0"],
    ["limit", "201"],
    ["more", "1"],
  ] as const)
    expect(details(await world.get(`/access-requests?${param}=${value}`)).param).toBe(param);
  expect(refusal(await world.get(path, keys.partner))).toBe("403 forbidden");
  expect(idsOf(await world.get(path, hooks.foreign.keys.admin))).toEqual([]);
});

test("a bulk decision reports each request once, and reaches no other workspace (P30)", async () => {
  const offer = await approval();
  const foreign = await world.offer(
    { visibility: "approval", advertiser_id: hooks.foreign.advertiserId },
    hooks.foreign.keys.admin,
  );
  await ask(foreign, {}, hooks.foreign.keys.partner);
  const item = { offer_id: offer.id, affiliate_id: world.tenant.affiliateId };
  const theirs = { offer_id: foreign.id, affiliate_id: hooks.foreign.affiliateId };
  const unknown = { offer_id: offer.id, affiliate_id: 999_999 };
  await ask(offer);
  const body = { items: [item, theirs, item, unknown], status: "approved" };
  const answer = decided(await world.patch("/access-requests", body));
  expect(answer).toMatchObject({
    updated: [{ ...item, status: "approved" }],
    skipped: [],
    not_found: [theirs, unknown],
  });
  // The same again changes nothing.
  expect(decided(await world.patch("/access-requests", { ...body, status: "rejected" }))).toEqual({
    updated: [],
    skipped: [{ ...item, status: "approved" }],
    not_found: [theirs, unknown],
  });
  expect(
    record(await world.get(`/offers/${foreign.id}`, hooks.foreign.keys.partner))["access_status"],
  ).toBe("pending");
  for (const [field, wrong] of [
    ["items", { ...body, items: [] }],
    ["items", { ...body, items: Array.from({ length: 201 }, () => item) }],
    ["items[0].affiliate_id", { ...body, items: [{ offer_id: 1 }] }],
    ["items[0].offer_id", { ...body, items: [{ ...item, offer_id: "1" }] }],
    ["status", { ...body, status: "pending" }],
    ["note", { ...body, note: 1 }],
    ["reply", { ...body, reply: "r".repeat(501) }],
    ["more", { ...body, more: 1 }],
  ] as const)
    expect(Object.keys(details(await world.patch("/access-requests", wrong)).fields)).toEqual([
      field,
    ]);
  expect(refusal(await world.patch("/access-requests", body, keys.analyst))).toBe(
    "403 read_only_key",
  );
  expect(refusal(await world.patch("/access-requests", body, keys.partner))).toBe("403 forbidden");
});

test("of two managers who decide at once, one decides, and one event is sent", async () => {
  const hook = await hooks.listen("both", ["access.decided"]);
  const offer = await approval();
  await ask(offer);
  const items = [{ offer_id: offer.id, affiliate_id: world.tenant.affiliateId }];
  const sent = await inTransaction(world.pool, async (tx) => {
    await lockForAccess(tx, offer.id);
    const both = ["approved", "rejected"].map(async (status) =>
      decided(await world.patch("/access-requests", { items, status })),
    );
    await untilWaiting(world.pool, 2);
    return both;
  });
  const answers = await Promise.all(sent);
  expect(answers.map(({ updated }) => updated.length).toSorted((a, b) => a - b)).toEqual([0, 1]);
  expect(answers.map(({ skipped }) => skipped.length).toSorted((a, b) => a - b)).toEqual([0, 1]);
  const winner = answers.flatMap(({ updated }) => updated)[0]?.status;
  expect(answers.flatMap(({ skipped }) => skipped)[0]?.status).toBe(winner);
  const [document] = await hooks.told(hook, 1);
  expect(document).toMatchObject({ data: { status: winner } });
  expect(await hooks.deliveries(hook)).toHaveLength(1);
});

test("of two requests of a partner at once, one is new and fires its event (N31)", async () => {
  const hook = await hooks.listen("twice", ["access.requested"]);
  const offer = await approval();
  const sent = await inTransaction(world.pool, async (tx) => {
    await lockForAccess(tx, offer.id);
    const both = [ask(offer, { message: "one" }), ask(offer, { message: "two" })];
    await untilWaiting(world.pool, 2);
    return both;
  });
  expect((await Promise.all(sent)).map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
    200, 201,
  ]);
  await hooks.told(hook, 1);
  expect(await hooks.deliveries(hook)).toHaveLength(1);
});
