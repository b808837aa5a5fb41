import type { Queryable } from "../../../schemas/postgres/connect.ts";
import { quoteConditions } from "../../../schemas/postgres/quote.ts";
import type { TimeRange } from "../../../schemas/time/range.ts";
import { conditionsOf, equals, type Filter } from "../../http/filter-conditions.ts";
import { byTime, keysetOf, quoteAfter, quoteOrder } from "../../http/list-order.ts";
import type { SortedPage } from "../../http/page.ts";
import { statementName } from "../../http/statement-name.ts";
import type { Principal } from "../../operation/principal.ts";
import { isStaff } from "../../operation/principal.ts";

/** A conversion as stored; `click` contains the fields that were copied from its click. */
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

/** Beside a time at an end, any id will do. */
const ANY_ID = "ffffffff-ffff-ffff-ffff-ffffffffffff";

const COLUMNS = `c.id, coalesce(c.click_id, '') as click_id, c.offer_id, o.name as offer_name, c.affiliate_id,
  coalesce(f.code, '') as affiliate_code, coalesce(f.name, '') as affiliate_name, c.advertiser_id, c.smart_link_id,
  c.event_id, c.event_code, c.status, c.status_reason, c.is_duplicate, c.revenue, c.payout, c.sale_amount, c.currency,
  coalesce(c.adv_txid, '') as adv_txid, c.method, c.click_ts, c.conv_ts, c.click, coalesce(host(c.conv_ip), '') as conv_ip,
  c.params, c.notes, c.created_at, c.updated_at`;
const SOURCE = `from conversion c join offer o on o.id = c.offer_id left join affiliate f on f.id = c.affiliate_id`;

/**
 * Conditions of the list that are not simply a column and its value, including conditions that limit a role to its own rows, each with an
 * index of its own.
 */
const FILTERS: Readonly<Record<string, Filter>> = {
  event: equals("c.event_code"),
  partner: (id) => ({
    text: (first) => `c.affiliate_id = $${first} and not c.is_private`,
    values: [id],
  }),
  advertiser: equals("c.advertiser_id"),
};

export async function listConversions(
  db: Queryable,
  { role, workspace, affiliate, advertiser }: Principal,
  page: SortedPage & Pick<TimeRange, "fromMs" | "toMs">,
): Promise<ConversionRow[]> {
  const { filters, fromMs, toMs, after, rowsMax, sort = "-conv_ts" } = page;
  const keyset = keysetOf(byTime("c.conv_ts"), sort, { id: "c.id", type: "uuid", after });
  const account = { partner: affiliate?.id, advertiser: advertiser?.id };
  const conditions = conditionsOf({ ...filters, ...account }, FILTERS, "c");
  const { rows } = await db.query<ConversionRow>({
    ...statementName(`list-conversions${sort}-${isStaff(role) ? "staff" : role}`, filters),
    text: `select ${COLUMNS} ${SOURCE}
           where c.workspace_id = $1 and ${quoteAfter(keyset)}
             and c.conv_ts >= to_timestamp($4::double precision / 1000)
             and c.conv_ts <= to_timestamp($5::double precision / 1000) ${quoteConditions(conditions, 7)}
           order by ${quoteOrder(keyset)} limit $6`,
    values: [
      workspace.id,
      keyset.at,
      after?.id ?? ANY_ID,
      fromMs,
      toMs,
      rowsMax,
      ...conditions.flatMap(({ values }) => values),
    ],
  });
  return rows;
}

/** The conversions of these ids that the key may read. */
export async function findConversions(
  db: Queryable,
  principal: Principal,
  ids: readonly string[],
): Promise<ConversionRow[]> {
  const { rows } = await db.query<ConversionRow>({
    name: "find-conversions",
    text: `select ${COLUMNS} ${SOURCE}
           where c.id = any($1::uuid[]) and c.workspace_id = $2
             and ($3::integer is null or (c.affiliate_id = $3 and not c.is_private))
             and ($4::integer is null or c.advertiser_id = $4)`,
    values: [ids, principal.workspace.id, principal.affiliate?.id, principal.advertiser?.id],
  });
  return rows;
}

/**
 * How many conversions of the workspace wait, by reason. Reads at most `rowsMax` of them, newest first; `isWhole` is false if there
 * are more.
 */
export async function countWaiting(
  db: Queryable,
  workspaceId: number,
  { fromMs, toMs, rowsMax }: Pick<TimeRange, "fromMs" | "toMs"> & { readonly rowsMax: number },
): Promise<{ readonly byReason: readonly WaitingRow[]; readonly isWhole: boolean }> {
  const { rows } = await db.query<WaitingRow>({
    name: "count-waiting-conversions",
    text: `select status_reason, count(*)::integer as count from (
             select c.status_reason from conversion c
             where c.workspace_id = $1 and c.status = 'pending'
               and c.conv_ts >= to_timestamp($2::double precision / 1000)
               and c.conv_ts <= to_timestamp($3::double precision / 1000)
             order by c.conv_ts desc, c.id desc limit $4) waiting
           group by status_reason order by count(*) desc, status_reason`,
    values: [workspaceId, fromMs, toMs, rowsMax],
  });
  const total = rows.reduce((sum, { count }) => sum + count, 0);
  return { byReason: rows, isWhole: total < rowsMax };
}

export type WaitingRow = { readonly status_reason: string; readonly count: number };

/** Undefined also for a conversion that the key may not read: the caller sees no difference. */
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
