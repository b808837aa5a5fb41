import { expect, test } from "vitest";
import { z } from "zod";
import { forThisFile } from "../../services/for-this-file.ts";
import { until } from "../../system/until.ts";
import { clickIdOf, headerOf, lineOf } from "./click-answer.ts";
import { ClickPathsWorld } from "./click-paths-world.ts";

const DESTINATION = "https://shop.example/buy?o={offer_code}&a={affiliate_code}";
const LANDED = "302 https://shop.example/buy?o=SHOP&a=PART01";
const TARGET = "https://shop.example/p";
const URL_PARAM = `url=${encodeURIComponent(TARGET)}`;

const Alias = z.looseObject({ id: z.int(), shadowed: z.boolean() });
const ServerClick = z.looseObject({ transaction_id: z.string(), error_code: z.int() });
const Landed = z.looseObject({ click_id: z.string() });
const Link = z.object({
  data: z.looseObject({
    url: z.string(),
    link_key: z.string().optional(),
    warnings: z.array(z.string()),
  }),
});
const Report = z.object({ data: z.array(z.looseObject({ offer: z.int(), clicks: z.int() })) });

const world = await forThisFile(ClickPathsWorld.open());
const main = await world.addTenant("main");
const shopId = await world.addOffer(main, "SHOP", { destination_url: DESTINATION });
const bestId = await world.addSmartLink(main, "BEST", {
  rules: [{ name: "all", conditions: {}, offers: [{ offer_id: shopId, weight: 1 }] }],
});
const ofOffer = await addAlias("offer", "old.shop~1", "SHOP");
await addAlias("affiliate", "1042-x", "PART01");
await addAlias("affiliate", "777", String(main.affiliateId));
await addAlias("smart_link", "summer-sale", String(bestId));
await world.store.insert("tracking_domain", {
  workspace_id: main.id,
  host: "go.main.example",
  is_default: true,
});
await world.untilCurrent();

async function addAlias(
  kind: string,
  alias: string,
  target: string,
): Promise<z.infer<typeof Alias>> {
  return Alias.parse(
    await world.write("POST", "/code-aliases", main.adminKey, { kind, alias, target }),
  );
}

test.each([
  ["/r/old.shop~1/1042-x", LANDED],
  ["/r/OLD.Shop~1/1042-X", LANDED],
  ["/r/old%2Eshop%7e1/777", LANDED],
  ["/r/SHOP/777", LANDED],
  ["/r/old.shop~1/PART01", LANDED],
  ["/click?oid=old.shop~1&aid=1042-x", LANDED],
  ["/s/summer-sale-1042-x", LANDED],
  ["/s/BEST-1042-x", LANDED],
  ["/s/summer-sale?aid=777", LANDED],
  [`/c/old.shop~1-1042-x?${URL_PARAM}`, `302 ${TARGET}`],
  [`/c/SHOP-777?${URL_PARAM}`, `302 ${TARGET}`],
])("an alias works on a click path as the code does: %s", async (path, line) => {
  const answer = await world.ask(path);
  expect(lineOf(answer)).toBe(line);
  expect(await world.clickOf(answer, main)).toMatchObject({
    offer_id: shopId,
    affiliate_id: main.affiliateId,
    workspace_id: main.id,
  });
});

test.each(["/r/old.shop~2/1042-x", "/r/old.shop~1/1042", "/s/summer-1042-x", "/s/summer-sale"])(
  "a part of an alias names nothing: %s",
  async (path) => {
    expect((await world.ask(path)).status).toBe(404);
  },
);

test("server clicks, impressions, the landing page and the script take aliases", async () => {
  const clk = await world.ask(`/clk?oid=old.shop~1&affid=1042-x&token=${main.postbackToken}`);
  const { transaction_id: id, error_code } = ServerClick.parse(JSON.parse(clk.body));
  expect(error_code).toBe(0);
  const body = JSON.stringify({ offer: "old.shop~1", aff: "777", url: "https://shop.example/" });
  const lp = await world.ask("/lp", { method: "POST", body });
  expect([lp.status, lp.body]).toEqual([200, expect.stringContaining("direct")]);
  const landed = Landed.parse(JSON.parse(lp.body)).click_id;
  expect(await world.stored(`click_id = unhex('${landed}')`)).toMatchObject([
    { offer_id: shopId, affiliate_id: main.affiliateId },
  ]);
  expect(await world.stored(`click_id = unhex('${id}')`)).toMatchObject([
    { offer_id: shopId, affiliate_id: main.affiliateId },
  ]);
  expect((await world.ask("/i/old.shop~1/777")).status).toBe(200);
  const impressions = async (): Promise<boolean> => {
    const rows = await world.store.facts(
      `select offer_id from impression where offer_id = ${shopId}`,
    );
    return rows.length > 0;
  };
  await until("the impression is stored", impressions);
});

test("postbacks and pixels name offer and partner by aliases, and a click's offer too", async () => {
  expect(await world.report("offer_id=old.shop~1&aff_id=1042-x&txid=by-alias", main)).toMatchObject(
    {
      ok: true,
      status: "approved",
    },
  );
  const click = clickIdOf(await world.ask("/r/SHOP/PART01"));
  expect(await world.report(`click_id=${click}&offer=OLD.SHOP~1`, main)).toMatchObject({
    ok: true,
  });
  const pixel = await world.ask("/px?offer=old.shop~1&aff=777&txid=pixel-by-alias");
  expect(headerOf(pixel, "x-tracker-conversion")).toBe("approved");
});

test("links are built and reports filtered by aliases", async () => {
  const built = Link.parse(
    await world.rest("/tracking-link?offer=old.shop~1&affiliate=1042-x", main.adminKey),
  );
  expect(built.data.url).toMatch(/\/r\/SHOP\/PART01$/);
  const path = "/reports?preset=today&group_by=offer&metrics=clicks&filters=offer:in:old.shop~1";
  const counted = async (): Promise<boolean> => {
    const { data } = Report.parse(await world.rest(path, main.adminKey));
    return data.length === 1 && data[0]?.offer === shopId;
  };
  await until("the report has the offer of the alias", counted);
});

test("a later record with the code goes before the alias, which is shown as shadowed", async () => {
  await addAlias("offer", "Later.1", "SHOP");
  await world.untilCurrent();
  expect(lineOf(await world.ask("/r/later.1/PART01"))).toBe(LANDED);
  await world.addOffer(main, "later.1", { destination_url: DESTINATION });
  await world.untilCurrent();
  expect(lineOf(await world.ask("/r/later.1/PART01"))).toBe(
    "302 https://shop.example/buy?o=later.1&a=PART01",
  );
  const listed = z.object({ data: z.array(Alias) });
  const { data } = listed.parse(await world.rest("/code-aliases?alias=later.1", main.adminKey));
  expect(data).toMatchObject([{ alias: "Later.1", target: "SHOP", shadowed: true }]);
  expect(ofOffer.shadowed).toBe(false);
});

test("an alias that is deleted names nothing within a second, and one of another workspace never did", async () => {
  const other = await world.addTenant("other");
  await world.store.insert("tracking_domain", { workspace_id: other.id, host: "go.other.example" });
  const alias = await addAlias("affiliate", "gone.1", "PART01");
  await world.untilCurrent();
  expect((await world.ask("/r/SHOP/gone.1")).status).toBe(302);
  expect((await world.ask("/r/SHOP/gone.1", { host: "go.other.example" })).status).toBe(404);
  await world.write("DELETE", `/code-aliases/${alias.id}`, main.adminKey, {});
  const isGone = async (): Promise<boolean> => (await world.ask("/r/SHOP/gone.1")).status === 404;
  await until("the alias is gone", isGone);
});

test("codes of 1 to 64 letters, digits and -_.~ work on every click path", async () => {
  const code = `o-ld_${"x".repeat(50)}.~-A1`;
  const partner = "p.~_-1-2";
  const offer = {
    name: "Old",
    advertiser_id: main.advertiserId,
    destination_url: DESTINATION,
    code,
  };
  await world.write("POST", "/offers", main.adminKey, offer);
  await world.write("POST", "/offers", main.adminKey, { ...offer, code: "z" });
  await world.addAffiliate(main.id, partner);
  await world.write("POST", "/smart-links", main.adminKey, {
    name: "Old",
    code: "s.~-1",
    rules: [{ offers: [{ offer_id: shopId }] }],
  });
  await world.untilCurrent();
  const landed = `302 https://shop.example/buy?o=${code}&a=${partner}`;
  expect(lineOf(await world.ask(`/r/${code}/${partner}`))).toBe(landed);
  expect(lineOf(await world.ask(`/r/${code.toUpperCase()}/${partner.toUpperCase()}`))).toBe(landed);
  expect(lineOf(await world.ask(`/click?oid=${code}&aid=${partner}`))).toBe(landed);
  expect(lineOf(await world.ask(`/c/${code}-${partner}?${URL_PARAM}`))).toBe(`302 ${TARGET}`);
  expect(lineOf(await world.ask(`/s/s.~-1-${partner}`))).toBe(
    `302 https://shop.example/buy?o=SHOP&a=${partner}`,
  );
  expect(lineOf(await world.ask(`/r/z/${partner}`))).toBe(
    `302 https://shop.example/buy?o=z&a=${partner}`,
  );
  const query = new URLSearchParams({ offer: code, affiliate: partner, type: "transparent" });
  const { data } = Link.parse(await world.rest(`/tracking-link?${query}`, main.adminKey));
  expect(data.link_key).toBe(`${code}-${partner}`);
  expect(data.warnings).not.toContainEqual(expect.stringContaining("link key"));
});

test("a link key whose hyphens lead to another pair is told, and codes win over aliases in it", async () => {
  const hyphened = await world.addAffiliate(main.id, "Q-PART01");
  await world.addOffer(main, "SHOP-Q", { destination_url: DESTINATION });
  await addAlias("offer", "SHOP-Z", "SHOP");
  const other = await world.addAffiliate(main.id, "Z-PART01");
  await world.untilCurrent();
  const query = "/tracking-link?offer=SHOP&affiliate=Q-PART01&type=transparent";
  const { data } = Link.parse(await world.rest(query, main.adminKey));
  expect(data.warnings).toContainEqual(expect.stringContaining("leads to another offer"));
  const cut = await world.ask(`/c/SHOP-Q-PART01?${URL_PARAM}`);
  expect(await world.clickOf(cut, main)).toMatchObject({ affiliate_id: main.affiliateId });
  const whole = await world.ask(`/r/SHOP/Q-PART01`);
  expect(await world.clickOf(whole, main)).toMatchObject({ affiliate_id: hyphened });
  const byCodes = await world.ask(`/c/SHOP-Z-PART01?${URL_PARAM}`);
  expect(await world.clickOf(byCodes, main)).toMatchObject({ affiliate_id: other });
});
