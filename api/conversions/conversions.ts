import type { Queryable } from "../../schemas/postgres/connect.ts";
import type { Principal } from "../access/principal.ts";
import type { Position } from "../rest/cursor.ts";
import { keptPlan } from "../rest/kept-plan.ts";

/** A conversion as stored; `click` holds what was copied from its click. */
export type ConversionRow = {
  id: string;
  click_id: string;
  offer_id: number;
  offer_name: string;
  affiliate_id: number | null;
  affiliate_code: string;
  affiliate_name: string;
  advertiser_id: number;
  smart_link_id: number | null;
  event_id: number;
  event_code: string;
  status: string;
  status_reason: string;
  is_duplicate: boolean;
  revenue: string;
  payout: string;
  sale_amount: string;
  currency: string;
  adv_txid: string;
  method: string;
  click_ts: string | null;
  conv_ts: string;
  click: Record<string, string>;
  conv_ip: string;
  params: Record<string, string>;
  notes: string;
  created_at: string;
  updated_at: string;
};

export type ConversionFilters = {
  readonly fromMs: number;
  readonly toMs: number;
  readonly status: string | undefined;
  readonly event: string | undefined;
  readonly clickId: string | undefined;
  readonly offerId: number | undefined;
  readonly affiliateId: number | undefined;
  readonly method: string | undefined;
  readonly advTxid: string | undefined;
  readonly smartLinkId: number | undefined;
};

const NEWEST_ID = "ffffffff-ffff-ffff-ffff-ffffffffffff";

const COLUMNS = `c.id, coalesce(c.click_id, '') as click_id, c.offer_id, o.name as offer_name, c.affiliate_id,
  coalesce(f.code, '') as affiliate_code, coalesce(f.name, '') as affiliate_name, c.advertiser_id, c.smart_link_id,
  c.event_id, c.event_code, c.status, c.status_reason, c.is_duplicate, c.revenue, c.payout, c.sale_amount, c.currency,
  coalesce(c.adv_txid, '') as adv_txid, c.method, c.click_ts, c.conv_ts, c.click, coalesce(host(c.conv_ip), '') as conv_ip,
  c.params, c.notes, c.created_at, c.updated_at`;
const SOURCE = `from conversion c join offer o on o.id = c.offer_id left join affiliate f on f.id = c.affiliate_id`;

// $1 workspace, $2 $3 position, $4 $5 range, $6.. filters, $14 account, $15 rows.
const FILTERS = `c.workspace_id = $1 and (c.conv_ts, c.id) < ($2::timestamptz, $3::uuid)
  and c.conv_ts >= to_timestamp($4::double precision / 1000) and c.conv_ts <= to_timestamp($5::double precision / 1000)
  and ($6::text is null or c.status = $6) and ($7::text is null or c.event_code = $7)
  and ($8::text is null or c.click_id = $8) and ($9::integer is null or c.offer_id = $9)
  and ($10::integer is null or c.affiliate_id = $10) and ($11::text is null or c.method = $11)
  and ($12::text is null or c.adv_txid = $12) and ($13::integer is null or c.smart_link_id = $13)`;
const ORDER = "order by c.conv_ts desc, c.id desc limit $15";

/** What a role may read, each by an index of its own. `$14` is the account; staff have none. */
const LISTS = {
  staff: {
    name: "list-conversions",
    text: `select ${COLUMNS} ${SOURCE} where ${FILTERS} and $14::integer is null ${ORDER}`,
  },
  partner: {
    name: "list-conversions-of-partner",
    text: `select ${COLUMNS} ${SOURCE} where ${FILTERS} and c.affiliate_id = $14 and not c.is_private ${ORDER}`,
  },
  advertiser: {
    name: "list-conversions-of-advertiser",
    text: `select ${COLUMNS} ${SOURCE} where ${FILTERS} and c.advertiser_id = $14 ${ORDER}`,
  },
} as const;

export async function listConversions(
  db: Queryable,
  principal: Principal,
  filters: ConversionFilters,
  page: { readonly after: Position | undefined; readonly rowsMax: number },
): Promise<ConversionRow[]> {
  const { name, text } = LISTS[listOf(principal)];
  const { fromMs, toMs, ...optional } = filters;
  const { rows } = await db.query<ConversionRow>({
    ...keptPlan(name, optional),
    text,
    values: [
      principal.workspace.id,
      page.after?.at ?? "infinity",
      page.after?.id ?? NEWEST_ID,
      fromMs,
      toMs,
      filters.status,
      filters.event,
      filters.clickId,
      filters.offerId,
      filters.affiliateId,
      filters.method,
      filters.advTxid,
      filters.smartLinkId,
      principal.affiliate?.id ?? principal.advertiser?.id,
      page.rowsMax,
    ],
  });
  return rows;
}

/** Undefined also for what the key may not read: it is the same to the caller. */
export async function findConversion(
  db: Queryable,
  principal: Principal,
  id: string,
): Promise<ConversionRow | undefined> {
  const { rows } = await db.query<ConversionRow>({
    name: "find-conversion",
    text: `select ${COLUMNS} ${SOURCE}
           where c.id = $1 and c.workspace_id = $2
             and ($3::integer is null or (c.affiliate_id = $3 and not c.is_private))
             and ($4::integer is null or c.advertiser_id = $4)`,
    values: [id, principal.workspace.id, principal.affiliate?.id, principal.advertiser?.id],
  });
  return rows[0];
}

function listOf({ role }: Principal): keyof typeof LISTS {
  return role === "partner" || role === "advertiser" ? role : "staff";
}
