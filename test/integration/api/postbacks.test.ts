import { describe, expect, test } from "vitest";
import { insertKey } from "../../../api/access/insert-key.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import {
  ApiWorld,
  details,
  type Json,
  list,
  nextCursor,
  record,
  refusal,
  someText,
  textWith,
} from "./api-world.ts";

const URL = "https://partner.example/pb?c={click_id}&p={payout}&s={sub1}&t={status}";
const PRIVATE_EVENT = { code: "vip", is_private: true };

const world = await forThisFile(ApiWorld.open());
const foreign = await world.addTenant("foreign");
/** Another partner of the same workspace. */
const other = await addPartner("Other");
const offerId = (await world.offer({ events: [{ code: "sale" }, PRIVATE_EVENT] })).id;

async function addPartner(name: string): Promise<{ readonly id: number; readonly key: string }> {
  const affiliateId = Number(record(await world.post("/affiliates", { name })).id);
  const { workspaceId } = world.tenant;
  const key = await insertKey(world.pool, { workspaceId, name, role: "partner", affiliateId });
  return { id: affiliateId, key };
}

async function create(
  fields: Json = {},
  key?: string,
): Promise<Json & { readonly id: number | string }> {
  const answer = await world.post("/postbacks", { offer_id: offerId, url: URL, ...fields }, key);
  expect([answer.status, answer.body]).toMatchObject([201, {}]);
  return record(answer);
}

async function countStored(): Promise<number> {
  const { rows } = await world.pool.query<{ count: number }>({
    text: "select count(*) as count from postback",
  });
  return rows[0]?.count ?? 0;
}

async function idsOf(query: string, key: string): Promise<unknown[]> {
  return list(await world.get(`/postbacks?limit=200${query}`, key)).map(({ id }) => id);
}

describe("a postback of the staff", () => {
  test("offer and url are enough; the rest has defaults (PBO-001, PBO-002, PBO-011)", async () => {
    const made = await create();
    expect(made).toEqual({
      id: made.id,
      affiliate_id: null,
      offer_id: offerId,
      event_code: null,
      kind: "s2s",
      method: "GET",
      url: URL,
      body: "",
      fire_on: "approved",
      status: "active",
      created_by_affiliate: false,
      created_at: someText,
      updated_at: someText,
    });
    expect(record(await world.get(`/postbacks/${made.id}`))).toEqual(made);
    expect(list(await world.get("/postbacks"))[0]).toEqual(made);
  });

  test.each(["approved", "any", "reversal"])("fire_on may be %s (PBO-003)", async (word) => {
    expect(await create({ fire_on: word })).toMatchObject({ fire_on: word });
  });

  test.each<[field: string, wrong: Json, id: string]>([
    ["fire_on", { fire_on: "click" }, "PBO-003"],
    ["url", { url: "foo" }, "PBO-004"],
    ["url", { url: "ftp://x" }, "PBO-004"],
    ["url", { url: "https://user:pass@partner.example/{click_id}" }, "G226"],
    ["url", { url: "" }, "PBO-004"],
    ["url", { url: "/pb?c={click_id}" }, "PBO-004"],
    ["url", { url: undefined }, "PBO-005"],
    ["offer_id", { offer_id: undefined }, "PBO-005"],
    ["event_code", { event_code: "zz" }, "PBO-006"],
    ["event_code", { event_code: "SALE" }, "PBO-006"],
    ["kind", { kind: "capi" }, "PBO-031"],
    ["method", { method: "PUT" }, "G123"],
    ["status", { status: "disabled" }, "G123"],
    ["offer_id", { offer_id: 999_999 }, "G123"],
    ["affiliate_id", { affiliate_id: 999_999 }, "G123"],
    ["created_by_affiliate", { created_by_affiliate: true }, "G14"],
  ])("a fault of %s is reported, and nothing is stored: %j (%s)", async (field, wrong) => {
    const before = await countStored();
    const answer = await world.post("/postbacks", { offer_id: offerId, url: URL, ...wrong });
    expect(refusal(answer)).toBe("400 validation_failed");
    expect(Object.keys(details(answer).fields)).toEqual([field]);
    expect(await countStored()).toBe(before);
  });

  test("an empty body lacks both required fields (PBO-005)", async () => {
    const { fields } = details(await world.post("/postbacks", {}));
    expect(fields).toEqual({ offer_id: "required", url: "required" });
  });

  test("affiliate_id null is for every partner, an id for that one (PBO-010)", async () => {
    const forAll = await create({ affiliate_id: null });
    const forOne = await create({ affiliate_id: other.id });
    expect([forAll["affiliate_id"], forOne["affiliate_id"]]).toEqual([null, other.id]);
    expect(await idsOf("", other.key)).toContain(forOne.id);
    expect(await idsOf("", other.key)).not.toContain(forAll.id);
    expect(await idsOf("", world.tenant.keys.partner)).not.toContain(forOne.id);
  });

  test("two calls create two postbacks (PBO-016)", async () => {
    expect((await create()).id).not.toBe((await create()).id);
  });

  test("PATCH changes the given fields, DELETE removes the postback (G123)", async () => {
    const made = await create();
    const change = {
      kind: "html",
      method: "POST",
      body: "<img>",
      fire_on: "any",
      status: "paused",
      event_code: "sale",
      affiliate_id: other.id,
    };
    const changed = record(await world.patch(`/postbacks/${made.id}`, change));
    expect(changed).toEqual({ ...made, ...change, updated_at: changed["updated_at"] });
    expect(changed["updated_at"]).not.toBe(made["updated_at"]);
    expect(record(await world.patch(`/postbacks/${made.id}`, change))).toEqual(changed);
    const { id: elsewhere } = await world.offer();
    const moved = await world.patch(`/postbacks/${made.id}`, { offer_id: elsewhere });
    expect(details(moved).fields).toEqual({ event_code: "the offer has no event with this code" });
    const deleted = await world.call("DELETE", `/postbacks/${made.id}`);
    expect(deleted.body).toEqual({ data: { id: made.id, deleted: true } });
    expect((await world.get(`/postbacks/${made.id}`)).status).toBe(404);
  });

  test("a disabled postback is shown, found by status, and activated again by its owner (G126)", async () => {
    const { partner } = world.tenant.keys;
    const { id } = await create({}, partner);
    await world.pool.query({
      text: "update postback set status = 'disabled', disabled_reason = 'x', failed_in_row = 25 where id = $1",
      values: [id],
    });
    const [found] = list(await world.get("/postbacks?status=disabled", partner));
    expect(found).toMatchObject({ id, disabled_reason: "x" });
    expect(record(await world.get(`/postbacks/${id}`, partner))).toEqual(found);
    const again = record(await world.patch(`/postbacks/${id}`, { status: "active" }, partner));
    expect(again).toMatchObject({ status: "active" });
    expect(again).not.toHaveProperty("disabled_reason");
    const { rows } = await world.pool.query({
      text: "select failed_in_row, disabled_reason from postback where id = $1",
      values: [id],
    });
    expect(rows).toEqual([{ failed_in_row: 0, disabled_reason: "" }]);
  });
});

describe("at most 100 postbacks of one offer and partner", () => {
  test.each([
    ["a partner", () => world.tenant.affiliateId, () => world.tenant.keys.partner],
    ["all partners", () => null, () => world.tenant.keys.admin],
  ])("of two for %s at once one is the 100th, the other conflict, also by PATCH", async (...of) => {
    const [, affiliate, key] = of;
    const { id } = await world.offer();
    await world.pool.query({
      text: `insert into postback (workspace_id, affiliate_id, offer_id, url, created_by_affiliate)
             select $1, $2, $3, 'https://partner.example/', true from generate_series(1, 99)`,
      values: [world.tenant.workspaceId, affiliate(), id],
    });
    const body = { offer_id: id, url: URL };
    const both = await Promise.all([1, 2].map(() => world.post("/postbacks", body, key())));
    expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 409]);
    await create({ ...body, affiliate_id: other.id });
    const elsewhere = await create({}, key());
    const path = `/postbacks/${elsewhere.id}`;
    expect(refusal(await world.patch(path, { offer_id: id }, key()))).toBe("409 conflict");
    const [there] = await idsOf(`&offer_id=${id}`, key());
    const changed = await world.patch(`/postbacks/${String(there)}`, { url: `${URL}&x=1` });
    expect(changed.status).toBe(200);
  });
});

describe("a postback of a partner", () => {
  test("belongs to the partner's account, named or not (PBO-007)", async () => {
    const { keys, affiliateId } = world.tenant;
    const own = { affiliate_id: affiliateId, created_by_affiliate: true };
    expect(await create({}, keys.partner)).toMatchObject(own);
    expect(await create({ affiliate_id: affiliateId }, keys.partner)).toMatchObject(own);
  });

  test("may not be for another account or for all, also by PATCH (G124)", async () => {
    const { partner } = world.tenant.keys;
    const { id } = await create({}, partner);
    const before = await countStored();
    for (const affiliateId of [other.id, null]) {
      const body = { offer_id: offerId, url: URL, affiliate_id: affiliateId };
      expect(refusal(await world.post("/postbacks", body, partner))).toBe("403 forbidden");
      const change = { affiliate_id: affiliateId };
      expect(refusal(await world.patch(`/postbacks/${id}`, change, partner))).toBe("403 forbidden");
    }
    const typed = await world.patch(`/postbacks/${id}`, { affiliate_id: "x" }, partner);
    expect(Object.keys(details(typed).fields)).toEqual(["affiliate_id"]);
    expect(await countStored()).toBe(before);
  });

  test("an offer that it cannot run is refused, an invisible one unknown (PBO-008, G124)", async () => {
    const { partner } = world.tenant.keys;
    const gated = await world.offer({ visibility: "approval" });
    const paused = await world.offer({ status: "paused" });
    const secret = await world.offer({ visibility: "private" });
    const own = await create({}, partner);
    const before = await countStored();
    for (const { id } of [gated, paused]) {
      const answer = await world.post("/postbacks", { offer_id: id, url: URL }, partner);
      expect(refusal(answer)).toBe("403 not_approved");
      const moved = await world.patch(`/postbacks/${own.id}`, { offer_id: id }, partner);
      expect(refusal(moved)).toBe("403 not_approved");
    }
    for (const id of [secret.id, 999_999]) {
      const answer = await world.post("/postbacks", { offer_id: id, url: URL }, partner);
      expect(refusal(answer)).toBe("400 validation_failed");
      expect(details(answer).fields).toEqual({ offer_id: "no such offer" });
    }
    expect(await countStored()).toBe(before);
  });

  test("a postback on an offer that it may no longer run can be changed and deleted (PBO-008)", async () => {
    const { partner } = world.tenant.keys;
    const { id } = await world.offer();
    const made = await create({ offer_id: id }, partner);
    await world.patch(`/offers/${id}`, { status: "paused" });
    const change = { status: "paused", offer_id: id, url: "https://partner.example/" };
    expect((await world.patch(`/postbacks/${made.id}`, change, partner)).status).toBe(200);
    const path = `/postbacks/${made.id}`;
    expect((await world.call("DELETE", path, { key: partner })).status).toBe(200);
  });

  test("a private event is treated as missing (PBO-009, T12, G124)", async () => {
    const { keys, affiliateId } = world.tenant;
    const own = await create({ event_code: "sale" }, keys.partner);
    const before = await countStored();
    const refused = [
      await world.post(
        "/postbacks",
        { offer_id: offerId, url: URL, event_code: "vip" },
        keys.partner,
      ),
      await world.post(
        "/postbacks",
        { offer_id: offerId, url: URL, event_code: "zz" },
        keys.partner,
      ),
      await world.patch(`/postbacks/${own.id}`, { event_code: "vip" }, keys.partner),
    ];
    for (const answer of refused)
      expect(details(answer).fields).toEqual({
        event_code: "the offer has no event with this code",
      });
    expect(await countStored()).toBe(before);
    const staffs = await create({ affiliate_id: affiliateId, event_code: "vip" });
    expect(await idsOf("", keys.partner)).not.toContain(staffs.id);
    expect((await world.get(`/postbacks/${staffs.id}`, keys.partner)).status).toBe(404);
    expect((await world.get(`/postbacks/${staffs.id}`)).status).toBe(200);
  });

  test("a partner sees a postback that staff made for it, but cannot change it (#15, G125)", async () => {
    const { keys, affiliateId } = world.tenant;
    const secret = { method: "POST", body: "t={txid}&ip={ip}&a={adv1}" };
    const staffs = await create({ affiliate_id: affiliateId, ...secret });
    const path = `/postbacks/${staffs.id}`;
    for (const change of [
      { url: "https://evil.example/" },
      { url: `${URL}&ip={ip}` },
      { status: "paused" },
      { body: "" },
      {},
    ])
      expect(refusal(await world.patch(path, change, keys.partner))).toBe("403 forbidden");
    expect(refusal(await world.call("DELETE", path, { key: keys.partner }))).toBe("403 forbidden");
    expect(record(await world.get(path, keys.partner))).toEqual(record(await world.get(path)));
    expect((await world.patch(path, { url: `${URL}&x=1` })).status).toBe(200);
    const own = await create({ url: `${URL}&n=1` }, keys.partner);
    expect(own["created_by_affiliate"]).toBe(true);
    const moved = { url: "https://own.example/", body: "{payout}" };
    expect((await world.patch(`/postbacks/${own.id}`, moved, keys.partner)).status).toBe(200);
    expect(refusal(await world.patch(path, { url: URL }, keys.analyst))).toBe("403 read_only_key");
  });
});

test("a macro that would be sent literally is refused: a misspelled one, or a partner's of staff (G125)", async () => {
  const { keys } = world.tenant;
  const faultsOf = async (fields: Json, key: string) =>
    details(await world.post("/postbacks", { offer_id: offerId, url: URL, ...fields }, key)).fields;
  expect(await faultsOf({ url: `${URL}&x={pay_out}`, body: "{Txid}" }, keys.admin)).toEqual({
    url: textWith("the nearest known one is {payout}"),
    body: textWith("the nearest known one is {txid}"),
  });
  const secret = { url: `${URL}&x={ip}`, body: '{"t":"{txid}"}' };
  expect(await faultsOf(secret, keys.partner)).toEqual({
    url: "{ip} is available only in postbacks of your team",
    body: "{txid} is available only in postbacks of your team",
  });
  const own = await create({}, keys.partner);
  for (const key of [keys.partner, keys.admin]) {
    const answer = await world.patch(`/postbacks/${own.id}`, { body: "{adv1}" }, key);
    expect(details(answer).fields).toHaveProperty("body");
  }
});

describe("who sees what", () => {
  test("the list is paged: 50 by default, at most 200 (PBO-012, LIM-007)", async () => {
    await Promise.all(Array.from({ length: 60 }, () => create()));
    const first = await world.get("/postbacks");
    expect(list(first)).toHaveLength(50);
    const second = await world.get(`/postbacks?cursor=${nextCursor(first) ?? ""}`);
    const ids = [...list(first), ...list(second)].map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.slice(0, 60)).toEqual((await idsOf("", world.tenant.keys.admin)).slice(0, 60));
    for (const limit of [0, 201])
      expect(details(await world.get(`/postbacks?limit=${limit}`)).param).toBe("limit");
    expect((await world.get("/postbacks?limit=200")).status).toBe(200);
  });

  test("a partner sees its own postbacks only (PBO-013, VIS-052)", async () => {
    const { keys } = world.tenant;
    const mine = await create({}, keys.partner);
    const theirs = await create({}, other.key);
    const forAll = await create();
    expect(await idsOf("", keys.partner)).toContain(mine.id);
    for (const { id } of [theirs, forAll]) {
      const path = `/postbacks/${id}`;
      expect(await idsOf("", keys.partner)).not.toContain(id);
      for (const answer of [
        await world.get(path, keys.partner),
        await world.patch(path, { status: "paused" }, keys.partner),
        await world.call("DELETE", path, { key: keys.partner }),
        await world.get(`${path}/deliveries`, keys.partner),
      ])
        expect(refusal(answer)).toBe("404 not_found");
      expect(record(await world.get(path))["status"]).toBe("active");
    }
  });

  test("the list is filtered by offer, status and, for staff, partner", async () => {
    const { keys, affiliateId } = world.tenant;
    const { id } = await world.offer();
    const paused = await create({ offer_id: id, status: "paused", affiliate_id: affiliateId });
    const active = await create({ offer_id: id, affiliate_id: other.id });
    const query = `&offer_id=${id}`;
    expect(await idsOf(query, keys.analyst)).toEqual([active.id, paused.id]);
    expect(await idsOf(`${query}&status=paused`, keys.admin)).toEqual([paused.id]);
    expect(await idsOf(`${query}&affiliate_id=${other.id}`, keys.admin)).toEqual([active.id]);
    expect(await idsOf(`${query}&affiliate_id=${affiliateId}`, keys.partner)).toEqual([paused.id]);
    const foreignFilter = await world.get(`/postbacks?affiliate_id=${other.id}`, keys.partner);
    expect(details(foreignFilter).param).toBe("affiliate_id");
  });

  test("analysts read, advertisers have no access (PBO-014, PBO-015, VIS-052)", async () => {
    const { keys } = world.tenant;
    const { id } = await create();
    const body = { offer_id: offerId, url: URL };
    for (const path of ["/postbacks", `/postbacks/${id}`, `/postbacks/${id}/deliveries`]) {
      expect((await world.get(path, keys.analyst)).status).toBe(200);
      expect(refusal(await world.get(path, keys.advertiser))).toBe("403 forbidden");
    }
    for (const [key, why] of [
      [keys.analyst, "403 read_only_key"],
      [keys.advertiser, "403 forbidden"],
    ] as const) {
      expect(refusal(await world.post("/postbacks", body, key))).toBe(why);
      expect(refusal(await world.patch(`/postbacks/${id}`, {}, key))).toBe(why);
      expect(refusal(await world.call("DELETE", `/postbacks/${id}`, { key }))).toBe(why);
    }
  });

  test("postbacks of another workspace are 404 (P30)", async () => {
    const { id } = await create();
    for (const key of [foreign.keys.admin, foreign.keys.analyst, foreign.keys.partner]) {
      expect((await world.get(`/postbacks/${id}`, key)).status).toBe(404);
      expect((await world.get(`/postbacks/${id}/deliveries`, key)).status).toBe(404);
      expect(await idsOf("", key)).toEqual([]);
    }
    const { admin: key } = foreign.keys;
    expect((await world.patch(`/postbacks/${id}`, {}, key)).status).toBe(404);
    expect((await world.call("DELETE", `/postbacks/${id}`, { key })).status).toBe(404);
    const theirOffer = await world.post("/postbacks", { offer_id: offerId, url: URL }, key);
    expect(details(theirOffer).fields).toEqual({ offer_id: "no such offer" });
  });
});
