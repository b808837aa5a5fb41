import { expect, test } from "vitest";
import { z } from "zod";
import { insertKey } from "../../../api/access/insert-key.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { type Answer, lineOf } from "./click-answer.ts";
import { ClickPathsWorld, PARTNER } from "./click-paths-world.ts";

const HOST = "go.links.example";
const Link = z.object({ data: z.looseObject({ url: z.string() }) });
const Seen = z.object({ data: z.looseObject({ tracking_link: z.string() }) });

const world = await forThisFile(ClickPathsWorld.open());
const main = await world.addTenant("main");
const offerId = await world.addOffer(main, "SUMMER-SALE");
const account = { role: "partner" as const, affiliateId: main.affiliateId };
const partnerKey = await insertKey(world.store.pool, {
  workspaceId: main.id,
  name: "partner",
  ...account,
});
await world.write("POST", "/tracking-domains", main.adminKey, { host: HOST, is_default: true });
await world.untilCurrent();

async function built(query: string, key = main.adminKey): Promise<string> {
  return Link.parse(await world.rest(`/tracking-link?offer=SUMMER-SALE${query}`, key)).data.url;
}

/** Requests a link as a visitor's browser does. */
async function visit(link: string): Promise<Answer> {
  const { host, pathname, search } = new URL(link);
  expect(host).toBe(HOST);
  return await world.ask(`${pathname}${search}`, { host });
}

test("an affiliate link leads to the offer, and its click has the values of the link (LNK-028, OFF-057)", async () => {
  const link = await built(`&affiliate=${PARTNER}&sub1=a%20b%26c&sub7=%C3%BC&source_id=x`);
  const answer = await visit(link);
  expect(lineOf(answer)).toMatch(/^302 https:\/\/shop\.example\b/);
  expect(await world.clickOf(answer, main)).toMatchObject({
    offer_id: offerId,
    affiliate_id: main.affiliateId,
    link_type: "affiliate",
    status: "redirect",
    sub1: "a b&c",
    sub7: "ü",
    source_id: "x",
    domain: HOST,
  });
});

test("the link that an offer shows to a partner equals the built one and leads to the offer (OFF-057)", async () => {
  const { tracking_link: shown } = Seen.parse(
    await world.rest(`/offers/${offerId}`, partnerKey),
  ).data;
  expect(shown).toBe(await built("", partnerKey));
  const answer = await visit(shown);
  expect(lineOf(answer)).toMatch(/^302 https:\/\/shop\.example\b/);
  expect(await world.clickOf(answer, main)).toMatchObject({ affiliate_id: main.affiliateId });
});

test("a transparent link whose tags the ad platform fills in leads to exactly its landing page (LNK-029)", async () => {
  const template = await built(`&affiliate=${PARTNER}&type=transparent&sub2=x`);
  const page = "https://shop.example/p?a=1&b=%20#top";
  const filled = template
    .replace("{lpurl}", encodeURIComponent(page))
    .replace("{gclid}", "G-1")
    .replace("{campaignid}", "77");
  const { host } = new URL(template);
  // A platform that does not know a tag sends it unchanged.
  const answer = await world.ask(filled.slice(`https://${host}`.length), { host });
  expect(lineOf(answer)).toBe(`302 ${page}`);
  expect(await world.clickOf(answer, main)).toMatchObject({
    link_type: "transparent",
    offer_id: offerId,
    gclid: "G-1",
    ext_campaign_id: "77",
    sub2: "x",
    ext_keyword: "",
  });
});
