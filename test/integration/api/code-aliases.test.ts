import { expect, test } from "vitest";
import { insertKey } from "../../../api/access/insert-key.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { ApiWorld, details, list, record, refusal, someId, someText } from "./api-world.ts";

const world = await forThisFile(ApiWorld.open());
const { tenant } = world;
const shop = await world.offer({ code: "SHOP" });
await world.offer({ code: "OTHER" });

function alias(fields: object) {
  return { kind: "offer", alias: "old-1", target: "SHOP", ...fields };
}

test("an alias is created, read, listed, changed and deleted (N112)", async () => {
  const created = await world.post("/code-aliases", alias({}));
  expect(created.status).toBe(201);
  expect(created.body["data"]).toEqual({
    id: someId,
    kind: "offer",
    alias: "old-1",
    target: "SHOP",
    target_id: shop.id,
    shadowed: false,
    created_at: someText,
    updated_at: someText,
  });
  const path = `/code-aliases/${record(created).id}`;
  expect((await world.get(path)).body).toEqual(created.body);
  expect(list(await world.get("/code-aliases?alias=OLD-1&kind=offer"))).toHaveLength(1);
  expect(list(await world.get(`/code-aliases?target_id=${shop.id}`))).toHaveLength(1);
  expect(list(await world.get("/code-aliases?kind=affiliate"))).toEqual([]);
  const same = await world.patch(path, { alias: "old-1" });
  expect(same.body).toEqual(created.body);
  const changed = await world.patch(path, { alias: "old~2", target: "OTHER" });
  expect(record(changed)).toMatchObject({ alias: "old~2", target: "OTHER" });
  expect((await world.call("DELETE", path)).body["data"]).toMatchObject({ deleted: true });
  expect(refusal(await world.get(path))).toBe("404 not_found");
});

test("each kind has its own aliases, and target is an id or a code (N112)", async () => {
  const smart = record(await world.post("/smart-links", { name: "Best", code: "BEST" }));
  for (const [kind, target, code] of [
    ["offer", String(shop.id), "SHOP"],
    ["affiliate", tenant.affiliateCode.toLowerCase(), tenant.affiliateCode],
    ["smart_link", String(smart.id), "BEST"],
  ] as const) {
    const made = await world.post("/code-aliases", alias({ kind, alias: "same", target }));
    expect([made.status, record(made)["target"]]).toEqual([201, code]);
  }
  const deleted = await world.call("DELETE", `/smart-links/${smart.id}`);
  expect(refusal(deleted)).toBe("409 in_use");
});

test.each([
  [{ alias: "" }, "alias"],
  [{ alias: "x".repeat(65) }, "alias"],
  [{ alias: "a b" }, "alias"],
  [{ alias: "a/b" }, "alias"],
  [{ alias: ".." }, "alias"],
  [{ alias: "é" }, "alias"],
  [{ target: "NOBODY" }, "target"],
  [{ kind: "affiliate", target: "SHOP" }, "target"],
  [{ kind: "advertiser" }, "kind"],
])("an alias that could name nothing is refused: %j", async (fields, field) => {
  const answer = await world.post("/code-aliases", alias({ alias: "refused", ...fields }));
  expect(refusal(answer)).toBe("400 validation_failed");
  expect(Object.keys(details(answer).fields)).toEqual([field]);
});

test("an alias that is taken, or that a code or id already goes before, is a conflict (N112)", async () => {
  expect((await world.post("/code-aliases", alias({ alias: "Taken" }))).status).toBe(201);
  for (const text of ["taken", "other", String(shop.id)]) {
    const answer = await world.post("/code-aliases", alias({ alias: text }));
    expect([refusal(answer), details(answer).field]).toEqual(["409 conflict", "alias"]);
  }
  const free = record(await world.post("/code-aliases", alias({ alias: "free" })));
  const answer = await world.patch(`/code-aliases/${free.id}`, { alias: "TAKEN" });
  expect([refusal(answer), details(answer).field]).toEqual(["409 conflict", "alias"]);
});

test("a later record with the code goes before the alias, which is then shadowed (N112)", async () => {
  const made = record(await world.post("/code-aliases", alias({ alias: "later" })));
  await world.offer({ code: "LATER" });
  expect(record(await world.get(`/code-aliases/${made.id}`))).toMatchObject({ shadowed: true });
  expect(record(await world.get("/offers/later"))).toMatchObject({ code: "LATER" });
});

test("offers and partners are found by alias where a code is asked for, codes and ids first (N112)", async () => {
  await world.post("/code-aliases", alias({ alias: "rest.1" }));
  const partner = alias({ kind: "affiliate", alias: "rest.1", target: tenant.affiliateCode });
  await world.post("/code-aliases", partner);
  expect(record(await world.get("/offers/REST.1"))).toMatchObject({ id: shop.id });
  expect(record(await world.get("/affiliates/rest.1"))).toMatchObject({ id: tenant.affiliateId });
  for (const role of ["partner", "advertiser"] as const)
    expect(record(await world.get("/offers/rest.1", tenant.keys[role])).id).toBe(shop.id);
  const hidden = await world.offer({ code: "HIDDEN", visibility: "private" });
  await world.post("/code-aliases", alias({ alias: "hidden.1", target: "HIDDEN" }));
  expect(record(await world.get("/offers/hidden.1")).id).toBe(hidden.id);
  expect(refusal(await world.get("/offers/hidden.1", tenant.keys.partner))).toBe("404 not_found");
  const cost = { date: "2026-01-02", offer_id: "rest.1", affiliate_id: "rest.1", currency: "USD" };
  const costs = await world.post("/ad-costs", { rows: [{ ...cost, amount: "1" }] });
  expect(costs.body["data"]).toMatchObject({ inserted: 1, rejected: [] });
});

test("staff reads aliases, admins write them, those of partners by the right to change partners (P30)", async () => {
  const { id } = record(await world.post("/code-aliases", alias({ alias: "walls" })));
  for (const role of ["partner", "advertiser"] as const) {
    for (const path of ["/code-aliases", `/code-aliases/${id}`])
      expect(refusal(await world.get(path, tenant.keys[role]))).toBe("403 forbidden");
    const made = await world.post("/code-aliases", alias({ alias: "w2" }), tenant.keys[role]);
    expect(refusal(made)).toBe("403 forbidden");
  }
  expect((await world.get("/code-aliases", tenant.keys.analyst)).status).toBe(200);
  const read = await world.post("/code-aliases", alias({ alias: "w2" }), tenant.keys.analyst);
  expect(refusal(read)).toBe("403 read_only_key");
  const other = await world.addTenant("other");
  expect(refusal(await world.get(`/code-aliases/${id}`, other.keys.admin))).toBe("404 not_found");
  const foreign = await world.post("/code-aliases", alias({}), other.keys.admin);
  expect(details(foreign).fields).toMatchObject({ target: "no such offer" });
  const offersOnly = await insertKey(world.pool, {
    workspaceId: tenant.workspaceId,
    name: "offers",
    role: "admin",
    permissions: ["links.read", "offers.read", "offers.write"],
  });
  expect((await world.post("/code-aliases", alias({ alias: "w3" }), offersOnly)).status).toBe(201);
  const partner = alias({ kind: "affiliate", alias: "w4", target: tenant.affiliateCode });
  expect(refusal(await world.post("/code-aliases", partner, offersOnly))).toBe("403 forbidden");
  const made = record(await world.post("/code-aliases", partner));
  for (const method of ["PATCH", "DELETE"]) {
    const answer = await world.call(method, `/code-aliases/${made.id}`, {
      key: offersOnly,
      body: method === "PATCH" ? { alias: "w5" } : undefined,
    });
    expect(refusal(answer)).toBe("403 forbidden");
  }
});

test("offers and smart links take codes of 1 to 64 letters, digits and -_.~, unique in any case", async () => {
  for (const code of ["z", `${"a".repeat(60)}-_.~`, "1.2", "~"]) {
    expect((await world.offer({ code }))["code"]).toBe(code);
    expect(record(await world.get(`/offers/${encodeURIComponent(code)}`))["code"]).toBe(code);
    const smart = await world.post("/smart-links", { name: "S", code });
    expect(record(smart)["code"]).toBe(code);
  }
  for (const code of ["", ".", "..", "a b", "ä", "a/b", "x".repeat(65)]) {
    const answer = await world.post("/offers", {
      name: "Offer",
      advertiser_id: tenant.advertiserId,
      destination_url: "https://shop.example/",
      code,
    });
    expect([code, Object.keys(details(answer).fields)]).toEqual([code, ["code"]]);
  }
});
