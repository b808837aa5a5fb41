import type { Offer, OfferAccess } from "../../../schemas/catalog/records.ts";
import type { Queryable } from "../../../schemas/postgres/connect.ts";

export type LinkDomain = {
  readonly scheme: "https" | "http";
  /** With its port, unless it is the scheme's default. */
  readonly host: string;
  readonly certification: "certified" | "pending" | "not_certified";
};

/** SQL expressions for the ids that a link belongs to. */
type LinkOf = { readonly workspace: string; readonly affiliate: string; readonly offer: string };

/**
 * SQL expression for the id of the domain that a partner's links to an offer use: the domain assigned to both, else to the partner, else to
 * the offer, else the workspace's default, else its oldest (G182). Inactive domains are skipped; null if no domain is left. All code must
 * use this expression.
 */
export function linkDomainId({ workspace, affiliate, offer }: LinkOf): string {
  return `coalesce(
    (select d.id
     from tracking_domain_assignment x join tracking_domain d on d.id = x.domain_id and d.status = 'active'
     where x.workspace_id = ${workspace} and (x.affiliate_id = ${affiliate} or x.affiliate_id is null)
       and (x.offer_id = ${offer} or x.offer_id is null)
     order by x.affiliate_id is not null desc, x.offer_id is not null desc limit 1),
    (select d.id from tracking_domain d where d.workspace_id = ${workspace} and d.status = 'active'
     order by d.is_default desc, d.id limit 1))`;
}

const LINK_DOMAIN_ID = linkDomainId({
  workspace: "$1::integer",
  affiliate: "$2::integer",
  offer: "$3::integer",
});

/** Undefined when the workspace has no active tracking domain. */
export async function findLinkDomain(
  db: Queryable,
  workspaceId: number,
  { affiliateId, offerId }: { readonly affiliateId: number; readonly offerId: number },
): Promise<LinkDomain | undefined> {
  const { rows } = await db.query<LinkDomain>({
    name: "find-link-domain",
    text: `select d.scheme, d.host, d.certification from tracking_domain d
           where d.id = ${LINK_DOMAIN_ID}`,
    values: [workspaceId, affiliateId, offerId],
  });
  return rows[0];
}

/** The active tracking domains of the workspace, oldest first. */
export async function listActiveDomains(
  db: Queryable,
  workspaceId: number,
): Promise<readonly LinkDomain[]> {
  const { rows } = await db.query<LinkDomain>({
    name: "list-active-domains",
    text: `select scheme, host, certification from tracking_domain
           where workspace_id = $1 and status = 'active' order by id`,
    values: [workspaceId],
  });
  return rows;
}

export type LinkHost = { readonly host: string; readonly is_default: boolean };

/** As many as a partner is offered. */
const HOSTS_MAX = 100;

/** The hosts that a partner may choose for an offer, the one that its links have of themselves first. Domains of others are not told. */
export async function listLinkHosts(
  db: Queryable,
  workspaceId: number,
  { affiliateId, offerId }: { readonly affiliateId: number; readonly offerId: number },
): Promise<readonly LinkHost[]> {
  const { rows } = await db.query<LinkHost>({
    name: "list-link-hosts",
    text: `select d.host, d.id = own.id as is_default
           from (select ${LINK_DOMAIN_ID} as id) own join tracking_domain d on d.workspace_id = $1 and d.status = 'active'
           where d.id = own.id or not exists (select from tracking_domain_assignment x where x.domain_id = d.id)
             or exists (select from tracking_domain_assignment x where x.domain_id = d.id
               and (x.affiliate_id = $2 or x.affiliate_id is null) and (x.offer_id = $3 or x.offer_id is null))
           order by d.id = own.id desc, d.host limit $4`,
    values: [workspaceId, affiliateId, offerId, HOSTS_MAX],
  });
  return rows;
}

/** The origin of links that no domain is assigned to. Undefined when the workspace has no active tracking domain. */
export async function findDefaultOrigin(
  db: Queryable,
  workspaceId: number,
): Promise<string | undefined> {
  const { rows } = await db.query<LinkDomain>({
    name: "find-default-origin",
    text: `select scheme, host, certification from tracking_domain
           where workspace_id = $1 and status = 'active' order by is_default desc, id limit 1`,
    values: [workspaceId],
  });
  const [domain] = rows;
  return domain === undefined ? undefined : `${domain.scheme}://${domain.host}`;
}

/** Codes of a link that another workspace on the same host also has, and whether that workspace had the host first. */
export type SharedCodes = {
  readonly has_offer: boolean;
  readonly has_affiliate: boolean;
  readonly is_first: boolean;
};

/** Finds rows only in installations that shared a host before codes had to be unique on it (G200). */
export async function listSharedCodes(
  db: Queryable,
  workspaceId: number,
  link: { readonly host: string; readonly offerCode: string; readonly affiliateCode: string },
): Promise<readonly SharedCodes[]> {
  const { rows } = await db.query<SharedCodes>({
    name: "list-codes-beside",
    text: `select bool_or(c.kind = 'offer') as has_offer, bool_or(c.kind = 'affiliate') as has_affiliate,
             other.id < own.id as is_first
           from tracking_domain own
           join tracking_domain other on coalesce(other.shared_from, other.id) = coalesce(own.shared_from, own.id)
             and other.workspace_id <> own.workspace_id and other.status = 'active'
           join link_code c on c.workspace_id = other.workspace_id and c.code in (lower($3), lower($4))
             and c.code = case c.kind when 'offer' then lower($3) when 'affiliate' then lower($4) end
           where own.workspace_id = $1 and own.host = $2
           group by other.id, own.id order by other.id`,
    values: [workspaceId, link.host, link.offerCode, link.affiliateCode],
  });
  return rows;
}

export type ForcedTemplate = {
  readonly params: Readonly<Record<string, string>>;
  readonly source_id: string;
};

/** The traffic-source template forced on a partner; the oldest if there are several (G181). */
export async function findForcedTemplate(
  db: Queryable,
  workspaceId: number,
  affiliateId: number,
): Promise<ForcedTemplate | undefined> {
  const { rows } = await db.query<ForcedTemplate>({
    name: "find-forced-template",
    text: `select params, source_id from traffic_source_template
           where workspace_id = $1 and $2 = any(affiliate_ids) order by id limit 1`,
    values: [workspaceId, affiliateId],
  });
  return rows[0];
}

export type RunConditions = {
  readonly advertiser_status: string;
  readonly visibility: Offer["visibility"];
  readonly terms: string | null;
  readonly access_status: OfferAccess["status"] | null;
  readonly terms_accepted: boolean;
};

/** What decides whether a partner may run an offer, apart from the status of both (G48, G189). */
export async function findRunConditions(
  db: Queryable,
  { affiliateId, offerId }: { readonly affiliateId: number; readonly offerId: number },
): Promise<RunConditions | undefined> {
  const { rows } = await db.query<RunConditions>({
    name: "find-link-standing",
    text: `select adv.status as advertiser_status, o.visibility, o.terms, ac.status as access_status,
             ac.terms_accepted_at is not null as terms_accepted
           from offer o join advertiser adv on adv.id = o.advertiser_id
           left join offer_access ac on ac.offer_id = o.id and ac.affiliate_id = $2
           where o.id = $1`,
    values: [offerId, affiliateId],
  });
  return rows[0];
}
