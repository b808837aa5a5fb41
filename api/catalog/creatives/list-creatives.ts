import { z } from "zod";
import { everyRole } from "../../access/access-of-operations.ts";
import { showTo } from "../../access/visibility.ts";
import { unpagedParams, wordParam } from "../../http/query-fields.ts";
import { type Operation, operation } from "../../operation/operation.ts";
import { getOfferOfPath, OfferPath } from "../offers/get-offer.ts";
import { CREATIVE_KINDS } from "./creative-fields.ts";
import { listCreativesOfOffer } from "./creatives.ts";
import { oneCreative } from "./one-creative.ts";
import { partnerLinkOf } from "./partner-link.ts";
import { creativeOfPartner } from "./show-creative.ts";

export const listCreatives: Operation = operation({
  name: "listCreatives",
  method: "GET",
  path: "/offers/{id}/creatives",
  tag: "Creatives",
  summary: "List creatives of an offer",
  description: "All at once, newest first.",
  access: everyRole("creatives.read"),
  input: {
    path: OfferPath,
    query: z.object({ kind: wordParam(...CREATIVE_KINDS), ...unpagedParams }),
  },
  output: z.object({ data: z.array(oneCreative.Shown), next_cursor: z.null() }),
  status: 200,
  findResource: getOfferOfPath,
  run: async ({ principal, db }, { query: { kind }, resource: offer }) => {
    const isPartner = principal.role === "partner";
    const link = partnerLinkOf(principal, offer);
    // Without a link there is nothing to advertise with: a partner that cannot run the offer has none, nor has any partner of a
    // workspace without a tracking domain.
    if (isPartner && link === undefined) return { body: { data: [], next_cursor: null } };
    const status = isPartner ? "active" : undefined;
    const rows = await listCreativesOfOffer(db, offer.id, { kind, status });
    const data = rows.map((row) =>
      showTo(principal.role, "creative", link === undefined ? row : creativeOfPartner(row, link)),
    );
    return { body: { data, next_cursor: null } };
  },
});
