import assert from "node:assert";
import { z } from "zod";
import type { Demo } from "../../../../deploy/local/demo-file.ts";
import { OFFER, PARTNER } from "../../../browser/shop-seed.ts";
import { until } from "../../../system/until.ts";

/** Addresses of three countries. */
const VISITORS = { US: "8.8.8.8", GB: "81.2.69.142", FR: "2.2.3.4" } as const;

const Offer = z.object({ data: z.object({ id: z.int(), code: z.string() }) });
const Report = z.object({ totals: z.looseObject({ clicks: z.int(), conversions: z.int() }) });

/** REST calls with a key of the demo. */
export async function rest(demo: Demo, path: string, key = demo.keys.admin): Promise<unknown> {
  const headers = { authorization: `Bearer ${key}` };
  const answer = await fetch(`${demo.base_url}${path}`, { headers });
  const body: unknown = await answer.json();
  assert(answer.ok, `${path}: ${answer.status} ${JSON.stringify(body)}`);
  return body;
}

/** A visitor's click on the partner's link. Returns its ID. */
export async function click(
  demo: Demo,
  { sub1, address, offer = OFFER }: { sub1: string; address: string; offer?: string },
): Promise<string> {
  const link = `${demo.tracking_url}/r/${offer}/${PARTNER}?sub1=${encodeURIComponent(sub1)}`;
  const answer = await fetch(link, {
    redirect: "manual",
    headers: { "x-forwarded-for": address, "user-agent": "Mozilla/5.0 (X11; Linux) Firefox/140.0" },
  });
  const id = /click_id=([0-9a-f]{32})/.exec(answer.headers.get("location") ?? "")?.[1];
  assert(id !== undefined, `${link} answered ${answer.status}`);
  return id;
}

/** A new offer of the demo's advertiser, whose links work. */
export async function ownOffer(
  demo: Demo,
  terms: { currency?: string; revenue?: string; name?: string } = {},
): Promise<z.infer<typeof Offer>["data"]> {
  const answer = await fetch(`${demo.base_url}/offers`, {
    method: "POST",
    headers: { authorization: `Bearer ${demo.keys.admin}`, "content-type": "application/json" },
    body: JSON.stringify({
      name: "Of one file",
      advertiser_id: 1,
      destination_url: "https://shop.example/?click_id={click_id}",
      payout: "1",
      ...terms,
    }),
  });
  const { data } = Offer.parse(await answer.json());
  await until("the links of the offer work", async () => {
    const link = `${demo.tracking_url}/r/${data.code}/${PARTNER}`;
    const { headers } = await fetch(link, { redirect: "manual" });
    return headers.get("location")?.startsWith("https://shop.example/") === true;
  });
  return data;
}

/** The advertiser reports a sale of a click. */
async function sale(demo: Demo, clickId: string): Promise<void> {
  const params = new URLSearchParams({
    token: demo.postback_token,
    click_id: clickId,
    amount: "40",
    txid: clickId,
  });
  const answer = await fetch(`${demo.tracking_url}/pb?${params.toString()}`);
  assert(answer.ok, `/pb answered ${answer.status}: ${await answer.text()}`);
}

/** Clicks from three countries, each second one with a sale. Returns when reports count them. */
export async function sendTraffic(
  demo: Demo,
  sub1: string,
  each: number,
  offer = OFFER,
): Promise<void> {
  let sales = 0;
  for (const address of Object.values(VISITORS)) {
    for (let i = 0; i < each; i += 1) {
      const id = await click(demo, { sub1, address, offer });
      if (i % 2 === 1) continue;
      await sale(demo, id);
      sales += 1;
    }
  }
  const clicks = each * Object.keys(VISITORS).length;
  const query = new URLSearchParams({
    preset: "today",
    metrics: "clicks,conversions,pending_conversions",
    filters: `sub1:in:${encodeURIComponent(sub1)}`,
  }).toString();
  await until("reports count the traffic", async () => {
    const { totals } = Report.parse(await rest(demo, `/reports?${query}`));
    const pending = Number(totals["pending_conversions"]);
    return totals.clicks === clicks && totals.conversions + pending === sales;
  });
}
