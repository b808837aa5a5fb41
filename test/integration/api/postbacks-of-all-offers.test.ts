import { describe, expect, test } from "vitest";
import { insertKey } from "../../../api/access/insert-key.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { startReceiver } from "../outgoing/receiver.ts";
import { type Answer, ApiWorld, details, list, record, refusal } from "./api-world.ts";

const URL = "https://partner.example/pb?c={click_id}&p={payout}&s={sub1}";

const world = await forThisFile(ApiWorld.open());
const loose = await world.startAnother({ allowLoopback: true });
const receiver = await startReceiver();
world.atEnd(async () => await receiver.close());
const { partner, admin, analyst } = world.tenant.keys;
const offerId = (await world.offer()).id;

async function create(fields: Record<string, unknown>, key = partner): Promise<number> {
  const body = { offer_id: null, url: URL, ...fields };
  return Number(record(await world.post("/postbacks", body, key)).id);
}

describe("a postback of all offers (N35)", () => {
  test("is made with an explicit offer_id null; left out, the field is refused (PBO-005)", async () => {
    const own = record(await world.post("/postbacks", { offer_id: null, url: URL }, partner));
    expect(own).toMatchObject({ offer_id: null, affiliate_id: world.tenant.affiliateId });
    const ofStaff = record(await world.post("/postbacks", { offer_id: null, url: URL }, admin));
    expect(ofStaff).toMatchObject({ offer_id: null, affiliate_id: null });
    expect(details(await world.post("/postbacks", { url: URL }, partner)).fields).toEqual({
      offer_id: "required",
    });
    const ids = async (query: string): Promise<unknown[]> =>
      list(await world.get(`/postbacks?limit=200${query}`, partner)).map(({ id }) => id);
    expect(await ids("")).toContain(own.id);
    expect(await ids("")).not.toContain(ofStaff.id);
    expect(await ids(`&offer_id=${offerId}`)).not.toContain(own.id);
  });

  test("may name any event, and become a postback of one offer and back", async () => {
    const id = await create({ event_code: "deposit" });
    const path = `/postbacks/${id}`;
    const toOffer = await world.patch(path, { offer_id: offerId }, partner);
    expect(Object.keys(details(toOffer).fields)).toEqual(["event_code"]);
    const moved = await world.patch(path, { offer_id: offerId, event_code: null }, partner);
    expect(record(moved)).toMatchObject({ offer_id: offerId });
    expect(record(await world.patch(path, { offer_id: null }, partner))).toMatchObject({
      offer_id: null,
    });
  });

  test("of two at once one is the 100th of a partner, the other conflict", async () => {
    const { workspaceId } = world.tenant;
    const { id } = record(await world.post("/affiliates", { name: "Busy" }));
    const name = "busy";
    const key = await insertKey(world.pool, {
      workspaceId,
      name,
      role: "partner",
      affiliateId: Number(id),
    });
    await world.pool.query({
      text: `insert into postback (workspace_id, affiliate_id, url, created_by_affiliate)
             select $1, $2, 'https://partner.example/', true from generate_series(1, 99)`,
      values: [workspaceId, id],
    });
    const body = { offer_id: null, url: URL };
    const both = await Promise.all([1, 2].map(() => world.post("/postbacks", body, key)));
    expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 409]);
  });
});

describe("a test of a postback (N135)", () => {
  const at = (path: string): string => `http://127.0.0.1:${receiver.port}/${path}`;
  const send = async (id: number, key = partner): Promise<Answer> =>
    await world.callAt(loose, "POST", `/postbacks/${id}/test`, { key, body: {} });

  test("sends sample values and shows request and answer", async () => {
    receiver.answer((response) => void response.end("taken"));
    const id = await create({
      url: at("ok?c={click_id}&p={payout}&s={sub1}"),
      method: "POST",
      body: '{"status":"{status}","sub":"{sub2}"}',
    });
    expect((await send(id)).body["data"]).toMatchObject({
      method: "POST",
      url: at(`ok?c=${"0".repeat(32)}&p=1.0000&s=test-sub1`),
      body: '{"status":"approved","sub":"test-sub2"}',
      status: 200,
      answer: "taken",
      error: "",
    });
    expect(list(await world.get(`/postbacks/${id}/deliveries`, partner))).toEqual([]);
  });

  test.each([
    ["HTTP 500 Internal Server Error", 500, () => at("broken")],
    ["connection refused", null, () => "http://127.0.0.1:9/"],
    ["destination address not allowed", null, () => "http://10.0.0.1/"],
    ["invalid postback URL", null, () => "{sub1}://x"],
  ])("says %s", async (error, status, url) => {
    receiver.answer((response) => void response.writeHead(500).end());
    const id = await world.insert("postback", {
      workspace_id: world.tenant.workspaceId,
      affiliate_id: world.tenant.affiliateId,
      created_by_affiliate: true,
      url: url(),
    });
    expect((await send(id)).body["data"]).toMatchObject({ error, status });
  });

  test("is for those who may change the postback, and for server-to-server postbacks", async () => {
    const ofStaff = await create({ affiliate_id: world.tenant.affiliateId, url: at("x") }, admin);
    expect(refusal(await send(ofStaff))).toBe("403 forbidden");
    expect(refusal(await send(ofStaff, analyst))).toBe("403 read_only_key");
    const foreign = await world.addTenant("elsewhere");
    expect(refusal(await send(ofStaff, foreign.keys.admin))).toBe("404 not_found");
    const html = await create({ kind: "html" });
    expect(refusal(await send(html))).toBe("409 conflict");
  });
});
