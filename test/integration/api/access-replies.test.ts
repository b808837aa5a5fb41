import { expect, test } from "vitest";
import { z } from "zod";
import { forThisFile } from "../../services/for-this-file.ts";
import { type Answer, ApiWorld, record } from "./api-world.ts";

const world = await forThisFile(ApiWorld.open());
const { keys } = world.tenant;

const dataOf = ({ body }: Answer): Record<string, unknown> =>
  z.record(z.string(), z.unknown()).parse(body["data"]);
const decided = ({ body }: Answer) =>
  z.object({ updated: z.array(z.looseObject({})) }).parse(body["data"]);
const pathOf = (offer: { id: number }): string => `/offers/${offer.id}/access-request`;
const ask = async (offer: { id: number }, body: unknown = {}, key = keys.partner) =>
  await world.post(pathOf(offer), body, key);

/** Another partner of the workspace, with a key. */
async function addPartner() {
  const { id } = record(await world.post("/affiliates", { name: "Other" }));
  const body = { role: "partner", affiliate_id: id };
  return z.looseObject({ key: z.string() }).parse(dataOf(await world.post("/keys", body)));
}

test("the partner reads the reply of a decision, the staff's note never, and no other partner either (G50)", async () => {
  const offer = await world.offer({ visibility: "approval" });
  const other = await addPartner();
  const id = world.tenant.affiliateId;
  const replyOf = async (key = keys.partner) =>
    z
      .looseObject({ request: z.looseObject({ reply: z.string() }).nullable() })
      .parse(dataOf(await world.get(pathOf(offer), key))).request?.reply;
  await ask(offer);
  await ask(offer, {}, other.key);
  const items = [{ offer_id: offer.id, affiliate_id: id }];
  const decision = { items, status: "rejected", note: "low quality", reply: "Please add a site" };
  const { updated } = decided(await world.patch("/access-requests", decision));
  expect(updated).toMatchObject([{ note: "low quality", reply: "Please add a site" }]);
  expect(await replyOf()).toBe("Please add a site");
  expect(await replyOf(other.key)).toBe("");
  for (const key of [keys.partner, other.key, keys.advertiser])
    for (const path of [`/offers/${offer.id}`, "/offers?limit=200", pathOf(offer)]) {
      const { text } = await world.get(path, key);
      expect(text).not.toContain("low quality");
      expect(text.includes("Please add a site")).toBe(
        key === keys.partner && path === pathOf(offer),
      );
    }
  // A later decision replaces it, and without one it is empty.
  const access = `/offers/${offer.id}/affiliates/${world.tenant.affiliateCode}`;
  const put = async (body: unknown) => (await world.call("PUT", access, { body })).status;
  expect(await put({ status: "approved", reply: "Welcome" })).toBe(200);
  expect(await replyOf()).toBe("Welcome");
  expect(await put({ status: "rejected" })).toBe(200);
  expect(await replyOf()).toBe("");
  expect(await put({ status: "rejected", reply: "r".repeat(501) })).toBe(400);
  expect(await put({ status: "rejected", reply: "Not now" })).toBe(200);
  await world.patch(`/offers/${offer.id}/settings`, { reapply_days: 0 });
  expect(dataOf(await ask(offer))).toMatchObject({ status: "pending", reply: "" });
  expect(await put({ status: "pending", reply: "We look at it" })).toBe(200);
  expect(await replyOf()).toBe("We look at it");
  await world.call("DELETE", pathOf(offer), { key: keys.partner });
  expect(dataOf(await ask(offer))).toMatchObject({ status: "pending", reply: "" });
});
