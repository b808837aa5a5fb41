import { z } from "zod";
import { staff } from "../../access/access-of-operations.ts";
import { shownSchema, showTo } from "../../access/visibility.ts";
import { shownMoney } from "../../fields/body-fields.ts";
import { OFFER_STATUSES, OFFER_VISIBILITIES } from "../../fields/offer.ts";
import { openPage } from "../../http/page.ts";
import { reference } from "../../http/path-fields.ts";
import { booleanParam, pageParams, textParam, wordParam } from "../../http/query-fields.ts";
import { notFound } from "../../operation/errors.ts";
import { type Operation, operation } from "../../operation/operation.ts";
import { ACCESS_STATUSES } from "../offers/offer-fields.ts";
import { listOffersOfPartner, type PartnerOfferRow } from "../offers/offers.ts";
import { termsOfPartner } from "../offers/show-offer.ts";
import { type AffiliateRow, findAffiliate } from "./affiliates.ts";

const ShownOffer = shownSchema("affiliate_offer", {
  offer_id: z.int(),
  offer_code: z.string(),
  offer_name: z.string(),
  status: z.enum(OFFER_STATUSES),
  visibility: z.enum(OFFER_VISIBILITIES),
  currency: z.string(),
  payout_type: z.enum(["cpa", "cps", "cpc"]),
  payout: shownMoney,
  access_status: z.enum(ACCESS_STATUSES).nullable(),
  terms_accepted: z.boolean().nullable(),
  can_run: z.boolean(),
  tracking_link: z.string().nullable(),
}).meta({ id: "AffiliateOffer" });

export const listAffiliateOffers: Operation = operation({
  name: "listAffiliateOffers",
  method: "GET",
  path: "/affiliates/{id}/offers",
  tag: "Affiliates",
  summary: "List the offers of a partner",
  description:
    "What the partner may run: the offers that it sees, newest first. Private offers are listed once the partner has an access record. Payouts follow the partner's own terms, if it has any.",
  access: staff("affiliates.read"),
  input: {
    path: z.object({ id: reference }),
    query: z.object({
      ...pageParams,
      can_run: booleanParam,
      access_status: wordParam(...ACCESS_STATUSES),
      status: wordParam(...OFFER_STATUSES),
      visibility: wordParam(...OFFER_VISIBILITIES),
      q: textParam.meta({ description: "Part of the name, or exact code or id" }),
    }),
  },
  output: z.object({ data: z.array(ShownOffer), next_cursor: z.string().nullable() }),
  status: 200,
  findResource: async ({ db, workspace }, { id }): Promise<AffiliateRow> => {
    const affiliate = await findAffiliate(db, workspace.id, id);
    if (affiliate === undefined) throw notFound("affiliate");
    return affiliate;
  },
  run: async (context, { query, resource: { id, code } }) => {
    const { db, workspace, principal } = context;
    // A cursor is valid for this partner only.
    const page = openPage(context, "listAffiliateOffers", { ...query, affiliate: id });
    const { affiliate: _affiliate, ...filters } = page.filters;
    const whose = { workspaceId: workspace.id, affiliateId: id, sees: "staff" } as const;
    const rows = await listOffersOfPartner(db, whose, { ...page, filters });
    return {
      body: page.close(rows, {
        positionOf: (offer) => ({ at: offer.created_at, id: String(offer.id) }),
        show: (offer) => showTo(principal.role, "affiliate_offer", shown(offer, code)),
      }),
    };
  },
});

function shown(offer: PartnerOfferRow, affiliateCode: string): Record<string, unknown> {
  const { id, code, name, ...more } = offer;
  const terms = termsOfPartner(offer, affiliateCode);
  return { ...more, ...terms, offer_id: id, offer_code: code, offer_name: name };
}
