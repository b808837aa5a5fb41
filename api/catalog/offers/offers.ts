import type { Queryable } from "../../../schemas/postgres/connect.ts";
import {
  type Condition,
  quoteConditions,
  quoteIdentifiers,
} from "../../../schemas/postgres/quote.ts";
import { findByReference } from "../../access/find-by-reference.ts";
import { money } from "../../fields/body-fields.ts";
import { EVENT } from "../../fields/event.ts";
import {
  conditionsOf,
  equals,
  type Filter,
  type FilterValues,
  hasMember,
  isAnyOf,
  matches,
} from "../../http/filter-conditions.ts";
import {
  byCode,
  byName,
  byTime,
  type Keyset,
  keysetOf,
  quoteAfter,
  quoteOrder,
  type SortColumn,
  sortedBy,
} from "../../http/list-order.ts";
import type { SortedPage } from "../../http/page.ts";
import { statementName } from "../../http/statement-name.ts";
import type { Reference } from "../../operation/codes.ts";
import type { Principal } from "../../operation/principal.ts";
import { ManagedTable } from "../../records/managed-table.ts";
import { linkDomainId } from "../links/link-domains.ts";
import { CAN_RUN } from "./can-run.ts";
import { type EventRow, type OfferRow, PatchOfferBody, storedColumns } from "./offer-fields.ts";

/** A partner's own payout on the offer (`event_code` null) or on one of its events. */
export type OverrideRow = {
  readonly event_code: string | null;
  readonly payout_type: EventRow["payout_type"] | null;
  readonly payout: string | null;
};

/** An offer as a partner's key gets it. */
export type PartnerOfferRow = OfferRow & {
  access_status: string | null;
  can_run: boolean;
  /** Null for an offer without terms. */
  terms_accepted: boolean | null;
  overrides: OverrideRow[];
  /** Origin of the tracking domain for the partner's links to this offer; null if no domain is active. */
  origin: string | null;
};

type PartnerPrincipal = Principal & { readonly role: "partner" };

/** Name and value of each column of an event. Money stays text. */
const EVENT_PAIRS = [
  "'id', e.id",
  ...Object.entries(EVENT).map(
    ([name, { body }]) => `'${name}', e.${name}${body === money ? "::text" : ""}`,
  ),
  "'is_default', e.is_default",
];
const COLUMNS = `${quoteIdentifiers(Object.keys(storedColumns), "o")},
  coalesce((select json_agg(json_build_object(${EVENT_PAIRS.join(", ")}) order by e.is_default desc, e.id)
    from offer_event e where e.offer_id = o.id), '[]'::json) as events`;

const LINK_DOMAIN_ID = linkDomainId({
  workspace: "o.workspace_id",
  affiliate: "f.id",
  offer: "o.id",
});
const PARTNER_COLUMNS = `case when ac.is_asked then ac.status end as access_status, ${CAN_RUN} as can_run,
  case when o.terms is null then null else ac.terms_accepted_at is not null end as terms_accepted,
  coalesce((select json_agg(json_build_object('event_code', p.event_code, 'payout_type', p.payout_type,
      'payout', p.payout::text))
    from payout_override p where p.offer_id = o.id and p.affiliate_id = f.id), '[]'::json) as overrides,
  (select d.scheme || '://' || d.host from tracking_domain d
   where d.id = ${LINK_DOMAIN_ID}) as origin`;

/** $4 is the partner. */
const PARTNER_SOURCE = `from offer o join advertiser adv on adv.id = o.advertiser_id
  join affiliate f on f.id = $4
  left join offer_access ac on ac.offer_id = o.id and ac.affiliate_id = f.id`;
/** Offers that the partner may see: private offers are for approved partners only (G49). */
const PARTNER_SEES = `(o.visibility <> 'private' or ac.status = 'approved')`;

const SEEN_BY = {
  partner: PARTNER_SEES,
  staff: "(o.visibility <> 'private' or ac.is_asked)",
} as const;

type OffersOf = {
  readonly workspaceId: number;
  readonly affiliateId: number;
  readonly sees: keyof typeof SEEN_BY;
};

/** $1 is the workspace, $2 and $3 are the position. */
const IS_LISTED = "o.workspace_id = $1 and o.deleted_at is null and";
/** The list's own order. */
const NEWEST = "-created_at";
const SORTS: Readonly<Record<string, SortColumn>> = {
  created_at: byTime("o.created_at"),
  name: byName("o.name"),
  code: byCode("o.code"),
};
/** List parameters that are not simply a column and its value. */
const FILTERS: Readonly<Record<string, Filter>> = {
  q: matches(["o.name"], ["o.code", "o.id::text"]),
  tag: hasMember("o.tags"),
  ids: isAnyOf("o.id"),
  featured: equals("o.is_featured"),
  can_run: equals(CAN_RUN),
  access_status: equals("(case when ac.is_asked then ac.status end)"),
};

export async function listOffers(
  db: Queryable,
  workspaceId: number,
  { filters, after, rowsMax, sort = NEWEST }: SortedPage,
): Promise<OfferRow[]> {
  const conditions = offerConditions(filters);
  const keyset = offerKeyset(sort, after);
  const { rows } = await db.query<OfferRow>({
    ...(sort === NEWEST ? statementName("list-offers", filters) : {}),
    text: `select ${COLUMNS} from offer o where ${IS_LISTED} ${quoteAfter(keyset)} ${quoteConditions(conditions, 5)}
           order by ${quoteOrder(keyset)} limit $4`,
    values: [
      workspaceId,
      keyset.at,
      after?.id ?? 0,
      rowsMax,
      ...conditions.flatMap(({ values }) => values),
    ],
  });
  return rows;
}

/** `sees` is `partner` for the partner itself, `staff` for all offers that it sees or has asked for. */
export async function listOffersOfPartner(
  db: Queryable,
  { workspaceId, affiliateId, sees }: OffersOf,
  { filters, after, rowsMax, sort = NEWEST }: SortedPage,
): Promise<PartnerOfferRow[]> {
  const conditions = offerConditions(filters);
  const keyset = offerKeyset(sort, after);
  const { rows } = await db.query<PartnerOfferRow>({
    // Unnamed on purpose: the plan that Postgres would keep for any partner expects few offers and sorts all of them.
    text: `select ${COLUMNS}, ${PARTNER_COLUMNS} ${PARTNER_SOURCE}
           where ${IS_LISTED} ${quoteAfter(keyset)} and ${SEEN_BY[sees]} ${quoteConditions(conditions, 6)}
           order by ${quoteOrder(keyset)} limit $5`,
    values: [
      workspaceId,
      keyset.at,
      after?.id ?? 0,
      affiliateId,
      rowsMax,
      ...conditions.flatMap(({ values }) => values),
    ],
  });
  return rows;
}

function offerKeyset(sort: string, after: SortedPage["after"]): Keyset {
  const column = SORTS[sortedBy(sort)];
  if (column === undefined) throw new Error(`offers cannot be sorted by ${sort}`);
  return keysetOf(column, sort, { id: "o.id", type: "integer", after });
}

function offerConditions(filters: FilterValues): readonly Condition[] {
  return conditionsOf(filters, FILTERS, "o");
}

/** By id, else by code, else by alias. An advertiser finds only its own offers, a partner only those that it can see. */
export async function findOffer(
  db: Queryable,
  principal: Principal,
  reference: Reference,
): Promise<OfferRow | PartnerOfferRow | undefined> {
  return await findByReference(db, principal.workspace.id, {
    kind: "offer",
    reference,
    find: async (asked) => await findOfferByCode(db, principal, asked),
  });
}

async function findOfferByCode(
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
  principal: PartnerPrincipal,
  reference: Reference,
): Promise<PartnerOfferRow | undefined> {
  const { rows } = await db.query<PartnerOfferRow>({
    name: "find-offer-of-partner",
    text: `select ${COLUMNS}, ${PARTNER_COLUMNS}
           ${PARTNER_SOURCE}
           where o.workspace_id = $1 and o.deleted_at is null and (o.id = $2 or lower(o.code) = lower($3))
             and ${PARTNER_SEES}
           order by o.id = $2 desc limit 1`,
    values: [principal.workspace.id, reference.id, reference.code, principal.affiliate.id],
  });
  return rows[0];
}

/**
 * Locks the offer until the end of the transaction, so that changes of its terms and its overrides run one after the other. The lock
 * lets conversions through: each takes a key share of its offer.
 */
export async function lockOffer(db: Queryable, id: number): Promise<OfferRow | undefined> {
  await db.query({
    name: "lock-offer",
    text: "select o.id from offer o where o.id = $1 for no key update",
    values: [id],
  });
  const { rows } = await db.query<OfferRow>({
    name: "read-offer",
    text: `select ${COLUMNS} from offer o where o.id = $1 and o.deleted_at is null`,
    values: [id],
  });
  return rows[0];
}

/** The columns that a write sets. The only unique index is `offer_code`. */
export const offerTable = new ManagedTable<{ readonly id: number }>({
  table: "offer",
  written: Object.keys(PatchOfferBody.shape),
  setOnCreate: ["code"],
  readOnly: ["id"],
});

/** The advertiser's currency; undefined when the advertiser does not belong to the workspace. */
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

/** Whether some partner has an override of the offer's payout or revenue (T26). */
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

/** How the offer is paid, and the codes of its events. */
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
