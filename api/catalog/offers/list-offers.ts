import { z } from "zod";
import { everyRole } from "../../access/access-of-operations.ts";
import { OFFER_STATUSES, OFFER_VISIBILITIES } from "../../fields/offer.ts";
import { positionIn, sortParam } from "../../http/list-order.ts";
import { openPage } from "../../http/page.ts";
import {
  booleanParam,
  currencyParam,
  idParam,
  idsParam,
  pageParams,
  textParam,
  wordParam,
} from "../../http/query-fields.ts";
import { invalidParameter } from "../../operation/errors.ts";
import { type Operation, operation } from "../../operation/operation.ts";
import type { Principal } from "../../operation/principal.ts";
import { ShownOffer } from "./offer-fields.ts";
import { listOffersOfPartner, listOffers as listRows } from "./offers.ts";
import { showOffer } from "./show-offer.ts";

const Query = z.object({
  ...pageParams,
  status: wordParam(...OFFER_STATUSES),
  q: textParam.meta({ description: "Part of the name, or exact code or id" }),
  visibility: wordParam(...OFFER_VISIBILITIES),
  advertiser_id: idParam.meta({ description: "Not for partner keys" }),
  category: textParam,
  tag: textParam,
  ids: idsParam.meta({ description: "Comma-separated ids" }),
  featured: booleanParam,
  currency: currencyParam,
  can_run: booleanParam.meta({ description: "Partner keys only" }),
  sort: sortParam("-created_at", "created_at", "name", "code"),
});

export const listOffers: Operation = operation({
  name: "listOffers",
  method: "GET",
  path: "/offers",
  tag: "Offers",
  summary: "List offers",
  description: "Newest first.",
  access: everyRole("offers.read"),
  input: { query: Query },
  output: z.object({ data: z.array(ShownOffer), next_cursor: z.string().nullable() }),
  status: 200,
  run: async (context, { query }) => {
    const { principal, db } = context;
    refuseHiddenFilters(principal, query);
    const opened = openPage(context, "listOffers", query);
    const account = principal.advertiser === null ? {} : { advertiser_id: principal.advertiser.id };
    const page = { ...opened, filters: { ...opened.filters, ...account } };
    const rows =
      principal.role === "partner"
        ? await listOffersOfPartner(db, ofPartner(principal), page)
        : await listRows(db, principal.workspace.id, page);
    return {
      body: page.close(rows, {
        positionOf: (offer) => positionIn(offer, query.sort),
        show: (offer) => showOffer(principal, offer),
      }),
    };
  },
});

function ofPartner({ workspace, affiliate }: Principal & { readonly role: "partner" }) {
  return { workspaceId: workspace.id, affiliateId: affiliate.id, sees: "partner" } as const;
}

/** Refuses a filter on a field that the key cannot see, because the result would reveal its values (VIS-059). */
function refuseHiddenFilters(principal: Principal, query: z.infer<typeof Query>): void {
  if (principal.role === "partner" && query.advertiser_id !== undefined) {
    throw invalidParameter("advertiser_id", "not for partner keys");
  }
  if (principal.role !== "partner" && query.can_run !== undefined) {
    throw invalidParameter("can_run", "for partner keys only");
  }
  if (
    principal.role === "advertiser" &&
    (query.advertiser_id ?? principal.advertiser.id) !== principal.advertiser.id
  ) {
    throw invalidParameter("advertiser_id", "not your own account");
  }
}
