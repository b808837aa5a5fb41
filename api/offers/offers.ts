import type { Queryable } from "../../schemas/postgres/connect.ts";
import type { Principal } from "../access/principal.ts";
import { linkDomainId } from "../links/link-domains.ts";
import { likePattern, type Reference } from "../rest/codes.ts";
import type { Position } from "../rest/cursor.ts";
import { keptPlan } from "../rest/kept-plan.ts";
import { CAN_RUN } from "./can-run.ts";

export type EventRow = {
  readonly id: number;
  readonly code: string;
  readonly name: string;
  readonly revenue_type: string;
  readonly revenue: string;
  readonly payout_type: string;
  readonly payout: string;
  readonly is_default: boolean;
  readonly is_private: boolean;
  readonly allow_multiple: boolean;
};

/** A partner's own payout on the offer (`event_code` null) or on one of its events. */
export type OverrideRow = {
  readonly event_code: string | null;
  readonly payout_type: string | null;
  readonly payout: string | null;
};

/** An offer with its events, the default one first. */
export type OfferRow = {
  id: number;
  code: string;
  name: string;
  status: string;
  visibility: string;
  advertiser_id: number;
  category: string;
  description: string;
  restrictions: string;
  preview_url: string;
  destination_url: string;
  fallback_url: string;
  allowed_domains: string[];
  currency: string;
  revenue_type: string;
  revenue: string;
  payout_type: string;
  payout: string;
  caps: Record<string, unknown>;
  targeting: Record<string, unknown>;
  conversion_method: string;
  unique_per_click: boolean;
  attribution_days: number;
  default_status: string;
  thumbnail_url: string;
  tags: string[];
  is_featured: boolean;
  created_at: string;
  updated_at: string;
  events: EventRow[];
};

/** The same as a partner's key gets it. */
export type PartnerOfferRow = OfferRow & {
  access_status: string | null;
  can_run: boolean;
  overrides: OverrideRow[];
  /** Origin of the tracking domain of the partner's links to this offer; null without an active one. */
  origin: string | null;
};

export type OfferFilters = {
  readonly status: string | undefined;
  readonly q: string | undefined;
  readonly visibility: string | undefined;
  readonly advertiserId: number | undefined;
  readonly category: string | undefined;
  readonly tag: string | undefined;
  readonly ids: readonly number[] | undefined;
  readonly featured: boolean | undefined;
  readonly currency: string | undefined;
  readonly canRun: boolean | undefined;
};

const COLUMNS = `o.id, o.code, o.name, o.status, o.visibility, o.advertiser_id, o.category, o.description, o.restrictions,
  o.preview_url, o.destination_url, o.fallback_url, o.allowed_domains, o.currency, o.revenue_type, o.revenue, o.payout_type,
  o.payout, o.caps, o.targeting, o.conversion_method, o.unique_per_click, o.attribution_days, o.default_status,
  o.thumbnail_url, o.tags, o.is_featured, o.created_at, o.updated_at,
  coalesce((select json_agg(json_build_object('id', e.id, 'code', e.code, 'name', e.name, 'revenue_type', e.revenue_type,
      'revenue', e.revenue::text, 'payout_type', e.payout_type, 'payout', e.payout::text, 'is_default', e.is_default,
      'is_private', e.is_private, 'allow_multiple', e.allow_multiple) order by e.is_default desc, e.id)
    from offer_event e where e.offer_id = o.id), '[]'::json) as events`;

// $1 workspace, $2 $3 position, $4.. filters. The position is always there, so that it is always a condition of the index.
const FILTERS = `o.workspace_id = $1 and o.deleted_at is null and (o.created_at, o.id) < ($2::timestamptz, $3::integer)
  and ($4::text is null or o.status = $4)
  and ($5::text is null or o.name ilike $5 or lower(o.code) = lower($6::text) or o.id::text = $6)
  and ($7::text is null or o.visibility = $7) and ($8::text is null or o.category = $8)
  and ($9::text is null or $9 = any(o.tags)) and ($10::integer[] is null or o.id = any($10))
  and ($11::boolean is null or o.is_featured = $11) and ($12::text is null or o.currency = $12)
  and ($13::integer is null or o.advertiser_id = $13)`;

const LINK_DOMAIN_ID = linkDomainId({
  workspace: "o.workspace_id",
  affiliate: "f.id",
  offer: "o.id",
});
const PARTNER_COLUMNS = `case when ac.is_asked then ac.status end as access_status, ${CAN_RUN} as can_run,
  coalesce((select json_agg(json_build_object('event_code', p.event_code, 'payout_type', p.payout_type,
      'payout', p.payout::text))
    from payout_override p where p.offer_id = o.id and p.affiliate_id = f.id), '[]'::json) as overrides,
  (select d.scheme || '://' || d.host from tracking_domain d
   where d.id = ${LINK_DOMAIN_ID}) as origin`;

/** Nothing of an invisible offer is told: private ones belong to approved partners only (G49). */
const PARTNER_SOURCE = `from offer o join advertiser adv on adv.id = o.advertiser_id
  join affiliate f on f.id = $14
  left join offer_access ac on ac.offer_id = o.id and ac.affiliate_id = f.id`;
const PARTNER_SEES = `(o.visibility <> 'private' or ac.status = 'approved')`;

export async function listOffers(
  db: Queryable,
  workspaceId: number,
  filters: OfferFilters,
  page: { readonly after: Position | undefined; readonly rowsMax: number },
): Promise<OfferRow[]> {
  const { rows } = await db.query<OfferRow>({
    ...keptPlan("list-offers", filters),
    text: `select ${COLUMNS} from offer o where ${FILTERS} order by o.created_at desc, o.id desc limit $14`,
    values: [...filterValues(workspaceId, filters, page.after), page.rowsMax],
  });
  return rows;
}

export async function listOffersOfPartner(
  db: Queryable,
  principal: Principal & { readonly role: "partner" },
  filters: OfferFilters,
  page: { readonly after: Position | undefined; readonly rowsMax: number },
): Promise<PartnerOfferRow[]> {
  const { rows } = await db.query<PartnerOfferRow>({
    // No name: the plan that Postgres keeps for any partner expects so few offers that it sorts all of them.
    text: `select ${COLUMNS}, ${PARTNER_COLUMNS} ${PARTNER_SOURCE}
           where ${FILTERS} and ${PARTNER_SEES} and ($15::boolean is null or ${CAN_RUN} = $15)
           order by o.created_at desc, o.id desc limit $16`,
    values: [
      ...filterValues(principal.workspace.id, filters, page.after),
      principal.affiliate.id,
      filters.canRun,
      page.rowsMax,
    ],
  });
  return rows;
}

/** By id, else by code. An advertiser finds its own offers only, a partner what it can see. */
export async function findOffer(
  db: Queryable,
  principal: Principal,
  reference: Reference,
): Promise<OfferRow | PartnerOfferRow | undefined> {
  if (principal.role === "partner") return await findOfferOfPartner(db, principal, reference);
  const { rows } = await db.query<OfferRow>({
    name: "find-offer",
    text: `select ${COLUMNS} from offer o
           where o.workspace_id = $1 and o.deleted_at is null and (o.id = $2 or lower(o.code) = lower($3))
             and ($4::integer is null or o.advertiser_id = $4)
           order by o.id = $2 desc limit 1`,
    values: [principal.workspace.id, reference.id, reference.code, principal.advertiser?.id],
  });
  return rows[0];
}

async function findOfferOfPartner(
  db: Queryable,
  principal: Principal & { readonly role: "partner" },
  reference: Reference,
): Promise<PartnerOfferRow | undefined> {
  const { rows } = await db.query<PartnerOfferRow>({
    name: "find-offer-of-partner",
    text: `select ${COLUMNS}, ${PARTNER_COLUMNS}
           from offer o join advertiser adv on adv.id = o.advertiser_id join affiliate f on f.id = $4
           left join offer_access ac on ac.offer_id = o.id and ac.affiliate_id = f.id
           where o.workspace_id = $1 and o.deleted_at is null and (o.id = $2 or lower(o.code) = lower($3))
             and ${PARTNER_SEES}
           order by o.id = $2 desc limit 1`,
    values: [principal.workspace.id, reference.id, reference.code, principal.affiliate.id],
  });
  return rows[0];
}

/** Locks the offer until the end of the transaction, so that its terms and its overrides change one after the other. */
export async function lockOffer(db: Queryable, id: number): Promise<OfferRow | undefined> {
  await db.query({
    name: "lock-offer",
    text: "select o.id from offer o where o.id = $1 for update",
    values: [id],
  });
  const { rows } = await db.query<OfferRow>({
    name: "read-offer",
    text: `select ${COLUMNS} from offer o where o.id = $1 and o.deleted_at is null`,
    values: [id],
  });
  return rows[0];
}

/** The columns a write sets, in the order of {@link WRITTEN}. */
export type OfferValues = Omit<OfferRow, "id" | "code" | "created_at" | "updated_at" | "events">;

const WRITTEN = `name, advertiser_id, status, visibility, category, description, restrictions, preview_url, destination_url,
  fallback_url, allowed_domains, currency, revenue_type, revenue, payout_type, payout, caps, targeting, conversion_method,
  unique_per_click, attribution_days, default_status, thumbnail_url, tags, is_featured`;

function writtenValues(values: OfferValues): unknown[] {
  return [
    values.name,
    values.advertiser_id,
    values.status,
    values.visibility,
    values.category,
    values.description,
    values.restrictions,
    values.preview_url,
    values.destination_url,
    values.fallback_url,
    values.allowed_domains,
    values.currency,
    values.revenue_type,
    values.revenue,
    values.payout_type,
    values.payout,
    JSON.stringify(values.caps),
    JSON.stringify(values.targeting),
    values.conversion_method,
    values.unique_per_click,
    values.attribution_days,
    values.default_status,
    values.thumbnail_url,
    values.tags,
    values.is_featured,
  ];
}

/** Answers the id. @throws a unique violation of `offer_code`. */
export async function insertOffer(
  db: Queryable,
  workspaceId: number,
  code: string,
  values: OfferValues,
): Promise<number> {
  const { rows } = await db.query<{ id: number }>({
    name: "insert-offer",
    text: `insert into offer (workspace_id, code, ${WRITTEN}) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13,
             $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27)
           returning id`,
    values: [workspaceId, code, ...writtenValues(values)],
  });
  return rows[0]?.id ?? 0;
}

export async function updateOffer(db: Queryable, id: number, values: OfferValues): Promise<void> {
  await db.query({
    name: "update-offer",
    text: `update offer set (${WRITTEN}) = row ($2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18,
             $19, $20, $21, $22, $23, $24, $25, $26), updated_at = clock_timestamp()
           where id = $1`,
    values: [id, ...writtenValues(values)],
  });
}

/** The advertiser's currency; undefined when it is not of the workspace. */
export async function findAdvertiserCurrency(
  db: Queryable,
  workspaceId: number,
  advertiserId: number,
): Promise<string | undefined> {
  const { rows } = await db.query<{ currency: string }>({
    name: "find-advertiser-currency",
    text: "select currency from advertiser where workspace_id = $1 and id = $2",
    values: [workspaceId, advertiserId],
  });
  return rows[0]?.currency;
}

/** Which sides of an offer some partner has own terms on (T26). */
export async function findOverriddenSides(
  db: Queryable,
  offerId: number,
): Promise<{ readonly payout: boolean; readonly revenue: boolean }> {
  const { rows } = await db.query<{ payout: boolean | null; revenue: boolean | null }>({
    name: "find-overridden-sides",
    text: `select bool_or(payout is not null) as payout, bool_or(revenue is not null) as revenue
           from payout_override where offer_id = $1`,
    values: [offerId],
  });
  return { payout: rows[0]?.payout === true, revenue: rows[0]?.revenue === true };
}

function filterValues(
  workspaceId: number,
  filters: OfferFilters,
  after: Position | undefined,
): unknown[] {
  return [
    workspaceId,
    after?.at ?? "infinity",
    after?.id ?? 0,
    filters.status,
    filters.q === undefined ? null : likePattern(filters.q),
    filters.q,
    filters.visibility,
    filters.category,
    filters.tag,
    filters.ids,
    filters.featured,
    filters.currency,
    filters.advertiserId,
  ];
}

/** How an offer pays and earns, and the codes of its events. */
export async function findOfferTerms(
  db: Queryable,
  workspaceId: number,
  offerId: number,
): Promise<{ payout_type: string; revenue_type: string; event_codes: string[] } | undefined> {
  const { rows } = await db.query<{
    payout_type: string;
    revenue_type: string;
    event_codes: string[];
  }>({
    name: "find-offer-terms",
    text: `select o.payout_type, o.revenue_type, array(select e.code from offer_event e where e.offer_id = o.id) as event_codes
           from offer o where o.workspace_id = $1 and o.id = $2 and o.deleted_at is null`,
    values: [workspaceId, offerId],
  });
  return rows[0];
}
