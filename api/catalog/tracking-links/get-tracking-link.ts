import { z } from "zod";
import { type RunFault, runFault } from "../../../schemas/catalog/may-run.ts";
import { canonicalHost } from "../../../schemas/catalog/tracking-host.ts";
import type { Queryable } from "../../../schemas/postgres/connect.ts";
import { storedHost } from "../../fields/catalog-fields.ts";
import { shownReference } from "../../http/path-fields.ts";
import { textParam, wordParam } from "../../http/query-fields.ts";
import { parseReference } from "../../operation/codes.ts";
import { ApiError, invalidParameter, notFound } from "../../operation/errors.ts";
import { type Operation, type OperationContext, operation } from "../../operation/operation.ts";
import { sentAs } from "../../operation/parameters.ts";
import { isStaff } from "../../operation/principal.ts";
import { type AffiliateRow, findAffiliate } from "../affiliates/affiliates.ts";
import { isKeyAmbiguous } from "../links/ambiguous-key.ts";
import {
  affiliateLink,
  finalUrlSuffix,
  LINK_VALUE_NAMES,
  type LinkParts,
  type LinkValues,
  linkKeyOf,
  linkValues,
  transparentLink,
} from "../links/build-link.ts";
import {
  findForcedTemplate,
  findLinkDomain,
  findRunConditions,
  type LinkDomain,
  listActiveDomains,
  listSharedCodes,
  type SharedCodes,
} from "../links/link-domains.ts";
import type { OfferRow } from "../offers/offer-fields.ts";
import { findOffer, type PartnerOfferRow } from "../offers/offers.ts";

const VALUES = Object.fromEntries(LINK_VALUE_NAMES.map((name) => [name, textParam]));
const EXPECTED = "expected an id or a code";

const Query = z.object({
  offer: sentAs(z.string(EXPECTED).min(1, EXPECTED), shownReference).meta({
    description: "Id or code",
  }),
  affiliate: sentAs(z.string().min(1, EXPECTED).optional(), shownReference).meta({
    description: "Id or code; default: the partner's own account; required for staff keys",
  }),
  type: wordParam("affiliate", "transparent").default("affiliate"),
  host: textParam.meta({ description: "Another active tracking domain of the workspace" }),
  ...VALUES,
});
type Query = z.output<typeof Query>;

const Link = z.strictObject({
  type: z.enum(["affiliate", "transparent"]),
  url: z.string(),
  host: z.string(),
  offer: z.strictObject({ id: z.int(), code: z.string(), name: z.string() }),
  affiliate: z.strictObject({ id: z.int(), code: z.string() }),
  warnings: z.array(z.string()),
  link_key: z.string().optional(),
  google_ads: z
    .strictObject({
      tracking_template: z.string(),
      certified: z.boolean(),
      cert_status: z.enum(["certified", "pending", "not_certified"]),
      final_url_suffix: z.string(),
    })
    .optional(),
});

type Offer = OfferRow | PartnerOfferRow;

export const getTrackingLink: Operation = operation({
  name: "getTrackingLink",
  method: "GET",
  path: "/tracking-link",
  tag: "Links",
  summary: "Build a tracking link",
  description:
    "A link of a partner to an offer. Nothing is stored. The host is the tracking domain assigned to partner and offer, to the partner, to the offer, else the " +
    "default of the workspace. A traffic-source template forced on the partner replaces all sub IDs and `source_id`. " +
    "`type=transparent` returns a tracking template for an ad platform, with `link_key` and `google_ads`.",
  access: { roles: ["admin", "analyst", "partner"], permission: "links.read", isWrite: false },
  input: { query: Query },
  output: z.object({ data: Link }),
  status: 200,
  failures: ["not_found", "not_approved", "no_tracking_domain"],
  run: async (context, { query }) => {
    const affiliate = await affiliateOf(context, query);
    const offer = await offerOf(context, query);
    const domain = await domainOf(context, { query, affiliate, offer });
    const parts = {
      origin: `${domain.scheme}://${domain.host}`,
      offerCode: offer.code,
      affiliateCode: affiliate.code,
      values: await valuesOf(context, query, affiliate),
    };
    const warnings = await warningsOf(context, { affiliate, offer, domain });
    const isTransparent = query.type === "transparent";
    if (isTransparent && (await isKeyAmbiguous(context.db, context.workspace.id, parts))) {
      warnings.push(
        `the link key ${linkKeyOf(parts)} leads to another offer and partner: make a link key (/link-keys) and use it instead`,
      );
    }
    const shown = {
      type: query.type,
      url: isTransparent ? transparentLink(parts) : affiliateLink(parts),
      host: domain.host,
      offer: { id: offer.id, code: offer.code, name: offer.name },
      affiliate: { id: affiliate.id, code: affiliate.code },
      warnings,
    };
    const transparent = isTransparent ? adPlatformFields(parts, domain) : {};
    return { body: { data: { ...shown, ...transparent } } };
  },
});

/** A partner's own account. Any other account is refused, whether or not it exists (G171). */
async function affiliateOf(
  { db, principal, workspace }: OperationContext,
  query: Query,
): Promise<AffiliateRow> {
  const caller = principal.affiliate;
  if (query.affiliate === undefined) {
    if (caller === null) throw invalidParameter("affiliate", EXPECTED);
    return caller;
  }
  const reference = parseReference(query.affiliate);
  const found =
    reference === undefined ? undefined : await findAffiliate(db, workspace.id, reference);
  if (caller !== null && found?.id !== caller.id)
    throw new ApiError("forbidden", "a partner key builds links of its own account only");
  if (found === undefined) throw notFound("affiliate");
  return found;
}

/** An offer that a partner sees but may not run is 403; an offer that it does not see is 404 (T56). */
async function offerOf({ db, principal }: OperationContext, query: Query): Promise<Offer> {
  const reference = parseReference(query.offer);
  const offer = reference === undefined ? undefined : await findOffer(db, principal, reference);
  if (offer === undefined) throw notFound("offer");
  if ("can_run" in offer && !offer.can_run)
    throw new ApiError("not_approved", "the partner may not run this offer yet");
  return offer;
}

type Between = { readonly affiliate: AffiliateRow; readonly offer: Offer };

async function domainOf(
  { db, workspace }: OperationContext,
  { query, affiliate, offer }: Between & { readonly query: Query },
): Promise<LinkDomain> {
  if (query.host !== undefined) {
    const asked = storedHost(query.host);
    const domains = await listActiveDomains(db, workspace.id);
    const named = domains.find(({ host }) => canonicalHost(host) === asked);
    if (named === undefined)
      throw invalidParameter("host", "expected an active tracking domain of the workspace");
    return named;
  }
  const ids = { affiliateId: affiliate.id, offerId: offer.id };
  const assigned = await findLinkDomain(db, workspace.id, ids);
  if (assigned === undefined)
    throw new ApiError("no_tracking_domain", "the workspace has no active tracking domain");
  return assigned;
}

async function valuesOf(
  { db, workspace }: OperationContext,
  query: Query,
  { id }: AffiliateRow,
): Promise<LinkValues> {
  const forced = await findForcedTemplate(db, workspace.id, id);
  if (forced === undefined) return linkValues(textsOf(query), { isTemplate: false });
  return linkValues({ ...forced.params, source_id: forced.source_id }, { isTemplate: true });
}

/** `z.object` does not infer the types of fields that are computed from a list. */
function textsOf(query: Readonly<Record<string, unknown>>): Record<string, string | undefined> {
  return Object.fromEntries(
    LINK_VALUE_NAMES.map((name) => {
      const value = query[name];
      return [name, typeof value === "string" ? value : undefined];
    }),
  );
}

/** For staff only: why clicks would go to the fallback. For all roles: problems of the domain (G172, G200, T55). */
async function warningsOf(
  { db, principal, workspace }: OperationContext,
  { affiliate, offer, domain }: Between & { readonly domain: LinkDomain },
): Promise<string[]> {
  const warnings: string[] = [];
  if (isStaff(principal.role)) {
    const faults = await fallbackReasons(db, { affiliate, offer });
    warnings.push(...faults.map((reason) => `${reason}: clicks go to the fallback`));
  }
  if (domain.certification !== "certified")
    warnings.push(`the tracking domain ${domain.host} is not certified`);
  warnings.push(...(await sharedCodeWarnings(db, workspace.id, { affiliate, offer, domain })));
  return warnings;
}

const RUN_FAULTS: Readonly<Record<RunFault, (visibility: string) => string>> = {
  rejected: () => "the partner is rejected for this offer",
  not_approved: (visibility) => `the partner is not approved for this ${visibility} offer`,
  terms_not_accepted: () => "the partner has not accepted the terms of this offer",
};

async function fallbackReasons(db: Queryable, { affiliate, offer }: Between): Promise<string[]> {
  const ids = { affiliateId: affiliate.id, offerId: offer.id };
  const conditions = await findRunConditions(db, ids);
  if (conditions === undefined) return [];
  const { advertiser_status, access_status, terms_accepted } = conditions;
  const access = access_status === null ? undefined : { status: access_status, terms_accepted };
  const fault = runFault(conditions, access);
  const isInactive = (status: string): boolean => status !== "active";
  return [
    ...(isInactive(offer.status) ? [`the offer is ${offer.status}`] : []),
    ...(isInactive(advertiser_status)
      ? [`the advertiser of the offer is ${advertiser_status}`]
      : []),
    ...(isInactive(affiliate.status) ? [`the partner is ${affiliate.status}`] : []),
    ...(fault === undefined ? [] : [RUN_FAULTS[fault](offer.visibility)]),
  ];
}

/** Shown to every role: a link that leads to another workspace is useless to all of them (G200). */
async function sharedCodeWarnings(
  db: Queryable,
  workspaceId: number,
  { affiliate, offer, domain: { host } }: Between & { readonly domain: LinkDomain },
): Promise<string[]> {
  const codes = { host, offerCode: offer.code, affiliateCode: affiliate.code };
  const others = await listSharedCodes(db, workspaceId, codes);
  const has = (test: (other: SharedCodes) => boolean): boolean => others.some(test);
  if (has((other) => other.is_first && other.has_offer && other.has_affiliate)) {
    return [`another workspace had ${host} first and has both codes: clicks go to it`];
  }
  return [
    ...(has((other) => other.has_offer)
      ? [`another workspace on ${host} has the offer code ${offer.code} too`]
      : []),
    ...(has((other) => other.has_affiliate)
      ? [`another workspace on ${host} has the partner code ${affiliate.code} too`]
      : []),
  ];
}

function adPlatformFields(parts: LinkParts, { certification }: LinkDomain) {
  return {
    link_key: linkKeyOf(parts),
    google_ads: {
      tracking_template: transparentLink(parts),
      certified: certification === "certified",
      cert_status: certification,
      final_url_suffix: finalUrlSuffix(parts.values),
    },
  };
}
