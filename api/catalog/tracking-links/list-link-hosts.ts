import { z } from "zod";
import { ApiError } from "../../operation/errors.ts";
import { type Operation, operation } from "../../operation/operation.ts";
import { listLinkHosts as listHosts } from "../links/link-domains.ts";
import { getOfferOfPath, OfferPath } from "../offers/get-offer.ts";

export const listLinkHosts: Operation = operation({
  name: "listLinkHosts",
  method: "GET",
  path: "/offers/{id}/link-hosts",
  tag: "Links",
  summary: "List the hosts that a partner may choose for its link to an offer",
  description:
    "Values for `host` of GET /tracking-link: the host that the link has of itself first, then the active tracking domains that are " +
    "assigned to no other partner and no other offer, by name.",
  access: { roles: ["partner"], permission: "links.read", isWrite: false },
  input: { path: OfferPath },
  output: z.object({
    data: z.array(z.strictObject({ host: z.string(), is_default: z.boolean() })),
  }),
  status: 200,
  failures: ["not_approved"],
  findResource: getOfferOfPath,
  run: async ({ db, workspace, principal }, { resource: offer }) => {
    if (principal.affiliate === null) throw new Error("only partner keys reach this operation");
    if (!("can_run" in offer) || !offer.can_run)
      throw new ApiError("not_approved", "the partner may not run this offer yet");
    const ids = { affiliateId: principal.affiliate.id, offerId: offer.id };
    return { body: { data: await listHosts(db, workspace.id, ids) } };
  },
});
