import { capBucketRange } from "../../../schemas/catalog/cap-bucket.ts";
import type { CapKind } from "../../../schemas/catalog/cap-owners.ts";
import type { CapPeriod } from "../../../schemas/catalog/records.ts";
import { readLanes } from "../../../schemas/installation/lane-count.ts";
import type { OperationContext } from "../../operation/operation.ts";

export const CAP_OWNERS = ["advertiser", "group", "offer"] as const;

type UsageRow = {
  readonly cap: string;
  readonly owner_kind: (typeof CAP_OWNERS)[number];
  readonly owner_id: number;
  readonly owner_name: string;
  readonly measure: CapKind;
  readonly period: CapPeriod;
  readonly currency: string | null;
  readonly limit: string;
  /** Null while the clicks are not known. */
  readonly used: string | null;
  readonly share: string | null;
  /** Null while the clicks are not known. */
  readonly is_reached: boolean | null;
  readonly alert_only: boolean;
};

export type CapUsage = Omit<UsageRow, "limit" | "used" | "share"> & {
  readonly limit: number | string;
  readonly used: number | string | null;
  readonly share: number | null;
  readonly resets_at: string | null;
};

export type UsageFilters = {
  readonly offer_id?: number | undefined;
  readonly offer_group_id?: number | undefined;
  readonly advertiser_id?: number | undefined;
  readonly min_share?: number | undefined;
};

/** `after` is the name of the last cap of the page before, "" on the first. */
type UsagePage = { readonly after: string; readonly rowsMax: number };

const COLUMNS = `cap, owner_kind, owner_id, owner_name, measure, period, currency, "limit", used, share, is_reached, alert_only`;

/*
 * $1 workspace, $2 now in UTC ms, $3 time zone, $4 to $6 the owner, $7 whether budgets of advertisers are shown, $8 smallest share,
 * $9 and $10 the counters of click caps ($9 is null while they are not known), $11 and $12 kind and id of the first owner to read.
 *
 * `capName` makes the names. A counter without a row has counted nothing. Money caps of a group or an advertiser have a counter for each
 * currency of its offers, as for the processors. `price` is the cheapest fixed price under a cap, by the rule of `cheapestPrices`.
 */
const USAGE = `
  with owner as (
    select 'offer' as kind, o.id, o.name, o.caps, array[o.currency] as currencies, array[o.id] as offer_ids
    from offer o where o.workspace_id = $1 and o.deleted_at is null and o.caps <> '{}'
      and ($4::integer is null or o.id = $4) and coalesce($5::integer, $6::integer) is null
      and ($11::text < 'offer' or ($11 = 'offer' and o.id >= $12::integer))
    union all
    select 'group', g.id, g.name, g.caps,
      array(select distinct o.currency from offer o where o.id = any(g.offer_ids) and o.deleted_at is null), g.offer_ids
    from offer_group g where g.workspace_id = $1 and g.caps <> '{}'
      and ($5::integer is null or g.id = $5) and coalesce($4::integer, $6::integer) is null
      and ($11 < 'group' or ($11 = 'group' and g.id >= $12))
    union all
    select 'advertiser', v.id, v.name, v.budget_caps,
      array(select distinct o.currency from offer o where o.advertiser_id = v.id and o.deleted_at is null),
      array(select o.id from offer o where o.advertiser_id = v.id and o.deleted_at is null)
    from advertiser v where v.workspace_id = $1 and v.budget_caps <> '{}' and $7::boolean
      and ($6::integer is null or v.id = $6) and coalesce($4::integer, $5::integer) is null
      and ($11 < 'advertiser' or ($11 = 'advertiser' and v.id >= $12))),
  span as materialized (
    select p as period, cap_bucket_start(p, to_timestamp($2::double precision / 1000), $3) as starts
    from unnest(array['hourly', 'daily', 'weekly', 'monthly', 'total']) p),
  cap as (
    select w.kind || '/' || w.id || '/' || m || '/' || l.key || coalesce('/' || u.currency, '') as cap,
      w.kind as owner_kind, w.id as owner_id, w.name as owner_name, m as measure, l.key as period, u.currency,
      (l.value #>> '{}')::numeric(22,4) as "limit", coalesce((w.caps ->> 'alert_only')::boolean, false) as alert_only, w.offer_ids
    from owner w cross join unnest(array['clicks', 'conversions', 'payout', 'revenue']) m
      cross join lateral jsonb_each(w.caps -> m) l
      cross join lateral unnest(case when m in ('payout', 'revenue') then w.currencies else array[null::text] end) u(currency)),
  counted as (
    select c.cap, c.owner_kind, c.owner_id, c.owner_name, c.measure, c.period, c.currency, c."limit", c.alert_only,
      k.refused_limit, p.price,
      case
        when c.currency is not null then (coalesce(k.used, 0) + coalesce((
          select sum(m.amount) from cap_click_money m where m.cap = c.cap and m.bucket_start = s.starts), 0))::numeric(22,4)
        when c.measure = 'conversions' then coalesce(k.used, 0)::numeric(22,4)
        when $9::text[] is null then null
        else coalesce(t.clicks, 0)::numeric(22,4) end as used
    from cap c join span s on s.period = c.period
      left join cap_counter k on k.cap = c.cap and k.bucket_start = s.starts and c.measure <> 'clicks'
      left join unnest($9::text[], $10::bigint[]) t (cap, clicks) on t.cap = c.cap and c.measure = 'clicks'
      left join lateral (
        select min(f.price) as price
        from offer o cross join lateral (
          select case c.measure when 'payout' then e.payout else e.revenue end as price
          from offer_event e
          where e.offer_id = o.id and case c.measure when 'payout' then e.payout_type <> 'cps' else e.revenue_type <> 'rps' end
          union all
          select case c.measure when 'payout' then v.payout else v.revenue end
          from payout_override v join affiliate a on a.id = v.affiliate_id and a.status = 'active'
          where v.offer_id = o.id and o.payout_type <> 'cpc' and o.revenue_type <> 'rpc'
            and case c.measure when 'payout' then v.payout_type = 'cpa' else v.revenue_type = 'rpa' end) f
        where c.currency is not null and o.id = any(c.offer_ids) and o.deleted_at is null and o.currency = c.currency
          and (o.status = 'active' or c.owner_kind = 'offer') and f.price > 0) p on true),
  usage as (
    select n.cap, n.owner_kind, n.owner_id, n.owner_name, n.measure, n.period, n.currency, n."limit", n.alert_only, n.used,
      case when n."limit" = 0 and n.used is not null then 1 else round(n.used / nullif(n."limit", 0), 4) end as share,
      is_cap_reached(n.used, n."limit", n.price, n.refused_limit) as is_reached
    from counted n),
  found as (select ${COLUMNS} from usage where $8::numeric is null or share >= $8 or (is_reached and $8 <= 1))`;

/** How much of each cap is used in its present period, by kind and id of its owner. */
export async function listCapUsage(
  context: OperationContext,
  filters: UsageFilters,
  { after, rowsMax }: UsagePage,
): Promise<CapUsage[]> {
  const { rows } = await context.db.query<UsageRow>({
    // Unnamed, because the plan depends on the owners that are asked for.
    text: `${USAGE} select ${COLUMNS} from found
           where (owner_kind, owner_id, cap) > ($11, $12, $13::text)
           order by owner_kind, owner_id, cap limit $14`,
    values: [...(await valuesOf(context, filters, after)), after, rowsMax],
  });
  return rows.map((row) => present(context, row));
}

/** How many caps `listCapUsage` finds, up to `countMax`. */
export async function countCapUsage(
  context: OperationContext,
  filters: UsageFilters,
  countMax: number,
): Promise<number> {
  const { rows } = await context.db.query<{ count: number }>({
    text: `${USAGE} select count(*)::integer as count from (select from found limit $13) counted_caps`,
    values: [...(await valuesOf(context, filters, "")), countMax],
  });
  return rows[0]?.count ?? 0;
}

async function valuesOf(
  { db, workspace, nowMs, principal, clickTotals }: OperationContext,
  filters: UsageFilters,
  after: string,
): Promise<unknown[]> {
  const [kind = "", id = "0"] = after.split("/");
  const clicks = clickTotals?.counts(await readLanes(db), workspace.timezone, nowMs);
  return [
    workspace.id,
    nowMs,
    workspace.timezone,
    filters.offer_id,
    filters.offer_group_id,
    filters.advertiser_id,
    principal.permissions.includes("advertisers.read"),
    filters.min_share,
    clicks?.caps,
    clicks?.clicks,
    kind,
    Number(id),
  ];
}

function present({ workspace, nowMs }: OperationContext, row: UsageRow): CapUsage {
  const isMoney = row.currency !== null;
  const valueOf = (text: string): number | string => (isMoney ? text : Math.trunc(Number(text)));
  const { toMs } = capBucketRange(row.period, workspace.timezone, nowMs);
  return {
    ...row,
    limit: valueOf(row.limit),
    used: row.used === null ? null : valueOf(row.used),
    share: row.share === null ? null : Number(row.share),
    resets_at: row.period === "total" ? null : new Date(toMs).toISOString(),
  };
}
