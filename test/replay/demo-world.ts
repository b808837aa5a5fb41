import { z } from "zod";
import type { ServiceClient } from "../system/service.ts";
import type { World } from "./world.ts";

const Offers = z.object({
  data: z.array(
    z.object({
      id: z.int(),
      code: z.string(),
      visibility: z.string(),
      currency: z.string(),
      payout_type: z.enum(["cpa", "cps", "cpc"]),
      payout: z.string(),
      revenue_type: z.enum(["rpa", "rps", "rpc"]),
      revenue: z.string(),
      destination_url: z.string(),
      fallback_url: z.string(),
    }),
  ),
});
const Affiliates = z.object({ data: z.array(z.object({ id: z.int(), code: z.string() })) });

/** The demo workspace unchanged: active public offers and active partners, no rules (`--plain`). */
export async function readDemoWorld(client: ServiceClient): Promise<World> {
  const offers = Offers.parse(await client.rest("/offers?status=active&limit=200"));
  const partners = Affiliates.parse(await client.rest("/affiliates?status=active&limit=200"));
  return {
    isFresh: false,
    host: "",
    postbackToken: client.demo.postback_token,
    fallbackUrl: "",
    offers: offers.data
      .filter(({ visibility }) => visibility === "public")
      .map((offer) => ({ ...offer, rules: {} })),
    partners: partners.data,
    smartLinks: [],
    controls: [],
    linkKeys: [],
  };
}
