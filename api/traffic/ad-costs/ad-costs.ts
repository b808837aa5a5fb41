import type { Queryable } from "../../../schemas/postgres/connect.ts";
import { quoteConditions } from "../../../schemas/postgres/quote.ts";
import { retryConflicts } from "../../../schemas/postgres/retry-conflicts.ts";
import { conditionsOf } from "../../http/filter-conditions.ts";
import type { FilteredPage } from "../../http/page.ts";
import { statementName } from "../../http/statement-name.ts";
import type { Reference } from "../../operation/codes.ts";
import type { AdCostRow } from "./ad-cost-fields.ts";

export type StoredAdCost = {
  readonly id: number;
  readonly date: string;
  readonly [column: string]: unknown;
};

/** A cost whose references are resolved to records. */
export type AdCost = Omit<AdCostRow, "offer_id" | "affiliate_id"> & {
  readonly offer_id: number | null;
  readonly advertiser_id: number | null;
  readonly affiliate_id: number | null;
};

/** Newest day first, at most `rowsMax`. `from` and `to` are inclusive. */
export async function listAdCosts(
  db: Queryable,
  workspaceId: number,
  page: FilteredPage & { readonly from: string | undefined; readonly to: string | undefined },
): Promise<StoredAdCost[]> {
  const { after, rowsMax, from, to, filters } = page;
  const conditions = conditionsOf(filters);
  const { rows } = await db.query<StoredAdCost>({
    ...statementName("list-ad-costs", { from, to, ...filters }),
    text: `select id, date, hour, offer_id, affiliate_id, traffic_source, ext_campaign_id, ext_adgroup_id, currency, amount,
             created_at, updated_at
           from ad_cost
           where workspace_id = $1 and (date, id) < ($2::date, $3::bigint)
             and date >= coalesce($5::date, '-infinity') and date <= coalesce($6::date, 'infinity')
             ${quoteConditions(conditions, 7)}
           order by date desc, id desc limit $4`,
    values: [
      workspaceId,
      after?.at ?? "infinity",
      after?.id ?? "0",
      rowsMax,
      from,
      to,
      ...conditions.flatMap(({ values }) => values),
    ],
  });
  return rows;
}

/**
 * Writes all costs or none. If a stored cost differs only in its amount, it gets the new amount (G75). The keys must be distinct. Rows are
 * written in the order of their keys, so that two concurrent calls cannot deadlock.
 */
export async function saveAdCosts(
  db: Queryable,
  workspaceId: number,
  costs: readonly AdCost[],
): Promise<{ inserted: number; updated: number }> {
  const values = [workspaceId, JSON.stringify(costs)];
  const { rows } = await retryConflicts(() =>
    db.query<{ inserted: number; updated: number }>({
      name: "save-ad-costs",
      text: `with written as (
             insert into ad_cost (workspace_id, date, hour, offer_id, advertiser_id, affiliate_id, traffic_source, ext_campaign_id,
               ext_adgroup_id, currency, amount)
             select $1::integer, date, hour, offer_id, advertiser_id, affiliate_id, traffic_source, ext_campaign_id,
               ext_adgroup_id, currency, amount
             from jsonb_to_recordset($2) as given(date date, hour smallint, offer_id integer, advertiser_id integer,
               affiliate_id integer, traffic_source text, ext_campaign_id text, ext_adgroup_id text, currency text, amount numeric)
             order by date, hour, offer_id, affiliate_id, currency, traffic_source, ext_campaign_id, ext_adgroup_id
             on conflict on constraint ad_cost_key do update
             set amount = excluded.amount, advertiser_id = excluded.advertiser_id, version = ad_cost.version + 1,
               updated_at = clock_timestamp()
             returning id, version
           ), queued as (
             insert into ad_cost_fact_outbox (ad_cost_id) select id from written
           )
           select count(*) filter (where version = 1) as inserted, count(*) filter (where version > 1) as updated from written`,
      values,
    }),
  );
  return rows[0] ?? { inserted: 0, updated: 0 };
}

/**
 * Finds offers of a workspace, each with its advertiser, by `code` of the reference. A reference is tried as an id, as a code (G25), then as an alias (N112).
 */
export async function findNamedOffers(
  db: Queryable,
  workspaceId: number,
  references: readonly Reference[],
): Promise<ReadonlyMap<string, { readonly id: number; readonly advertiser_id: number }>> {
  const { rows } = await db.query<{ asked: string; id: number; advertiser_id: number }>({
    name: "find-named-offers",
    text: `select asked.code as asked, o.id, o.advertiser_id
           from unnest($2::integer[], $3::text[]) as asked(id, code)
           cross join lateral (
             (select id, advertiser_id from offer where workspace_id = $1 and deleted_at is null and id = asked.id)
             union all
             (select id, advertiser_id from offer where workspace_id = $1 and deleted_at is null and lower(code) = lower(asked.code))
             union all
             (select t.id, t.advertiser_id from code_alias a join offer t on t.id = a.offer_id
              where a.workspace_id = $1 and a.kind = 'offer' and lower(a.alias) = lower(asked.code) and t.deleted_at is null)
             limit 1) o`,
    values: [workspaceId, references.map(({ id }) => id), references.map(({ code }) => code)],
  });
  return new Map(rows.map(({ asked, ...offer }) => [asked, offer]));
}

/** Finds partners of a workspace in the same way. */
export async function findNamedAffiliates(
  db: Queryable,
  workspaceId: number,
  references: readonly Reference[],
): Promise<ReadonlyMap<string, number>> {
  const { rows } = await db.query<{ asked: string; id: number }>({
    name: "find-named-affiliates",
    text: `select asked.code as asked, f.id
           from unnest($2::integer[], $3::text[]) as asked(id, code)
           cross join lateral (
             (select id from affiliate where workspace_id = $1 and id = asked.id)
             union all
             (select id from affiliate where workspace_id = $1 and lower(code) = lower(asked.code))
             union all
             (select affiliate_id from code_alias
              where workspace_id = $1 and kind = 'affiliate' and lower(alias) = lower(asked.code))
             limit 1) f`,
    values: [workspaceId, references.map(({ id }) => id), references.map(({ code }) => code)],
  });
  return new Map(rows.map(({ asked, id }) => [asked, id]));
}
