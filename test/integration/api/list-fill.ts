import type { Pool } from "../../../schemas/postgres/connect.ts";
import type { Tenant } from "./api-world.ts";

/** One row a second: a list of a million covers eleven days. */
const AT = "date_trunc('second', now()) - i * interval '1 second'";
/** One row in fifty has the rare values: some hundreds of rows here, twenty thousand of a million. */
const IS_RARE = "i % 50 = 0";

/**
 * Fills large tables: `rows` each, `rowsOfLargest` in those that grow most. One row in fifty belongs to the tenant's partner and
 * advertiser and to the offer 'RARE', which has the smallest id; the others are spread.
 */
export async function fillLists(
  db: Pool,
  { workspaceId, affiliateId, advertiserId }: Owners,
  { rows, rowsOfLargest }: { readonly rows: number; readonly rowsOfLargest: number },
): Promise<void> {
  const connection = await db.connect();
  try {
    await connection.query({ text: "set statement_timeout = 0" });
    const ids = { workspaceId, affiliateId, advertiserId, rows, rowsOfLargest };
    for (const text of [
      ...accounts(ids),
      ...events(ids),
      ...money(ids),
      ...managed(ids),
      ...statements(ids),
      ...payouts(ids),
      ...books(ids),
      "analyze",
    ])
      await connection.query({ text });
    await connection.query({ text: "reset statement_timeout" });
  } finally {
    connection.release();
  }
}

type Owners = Pick<Tenant, "workspaceId" | "affiliateId" | "advertiserId">;
type Ids = Owners & {
  readonly rows: number;
  readonly rowsOfLargest: number;
};

/** SQL of the offer and the partner that row `i` belongs to. */
function ownersOf({ affiliateId, rows }: Ids): {
  readonly offer: string;
  readonly affiliate: string;
} {
  const first = (table: string, condition: string): string =>
    `(select min(id) from ${table} where ${condition})`;
  return {
    offer: `case when ${IS_RARE} then ${first("offer", "true")} else ${first("offer", "true")} + 1 + i % ${rows - 1} end`,
    affiliate: `case when ${IS_RARE} then ${affiliateId} else ${first("affiliate", "code like 'C%'")} + i % ${rows} end`,
  };
}

function accounts({ workspaceId, affiliateId, advertiserId, rows, rowsOfLargest }: Ids): string[] {
  return [
    `insert into app_user (workspace_id, name, email, created_at)
     select ${workspaceId}, 'User ' || i, 'u' || i || '@x.example', ${AT} from generate_series(1, ${rows}) i`,
    `insert into advertiser (workspace_id, name, currency, postback_token, created_at)
     select ${workspaceId}, 'Advertiser ' || i, 'USD', 'token' || i, ${AT} from generate_series(1, ${rows}) i`,
    `insert into affiliate (workspace_id, code, name, currency, manager_id, created_at)
     select ${workspaceId}, 'C' || i, 'Partner ' || i, 'USD', (select min(id) from app_user) + case when ${IS_RARE} then 0 else 1 + i % 9 end, ${AT}
     from generate_series(1, ${rowsOfLargest}) i`,
    `insert into offer (workspace_id, advertiser_id, code, name, destination_url, currency, created_at, caps)
     select ${workspaceId}, case when i = 0 or ${IS_RARE} then ${advertiserId} else (select min(id) from advertiser where name like 'Advertiser %') + i % ${rows} end,
       case i when 0 then 'RARE' else 'O' || i end, 'Offer ' || i, 'https://x.example', 'USD', ${AT},
       case when ${IS_RARE} then '{"conversions": {"daily": 5}}'::jsonb else '{}' end
     from generate_series(0, ${rowsOfLargest - 1}) i`,
    `insert into offer_event (offer_id, code, name, is_default) select id, 'default', 'Default', true from offer on conflict do nothing`,
    `insert into api_key (workspace_id, name, role, secret_hash, created_at)
     select ${workspaceId}, 'Key ' || i, 'admin', sha256(('key' || i)::bytea), ${AT} from generate_series(1, ${rows}) i`,
    `insert into saved_view (workspace_id, key_id, name, path, query, is_shared, created_at)
     select ${workspaceId}, (select max(id) from api_key), 'View ' || i, '/reports', '', true, ${AT} from generate_series(1, ${rows}) i`,
    `insert into import (workspace_id, key_id, created_by, is_fresh, request_id, kind, name, format, delimiter, is_dry_run, is_update,
       skips_faulty, status, record_id, created_at, ended_at)
     select ${workspaceId}, (select max(id) from api_key), 'Key', true, '', case when ${IS_RARE} then 'offers' else 'affiliates' end, '',
       'csv', ',', false, false, false, case when ${IS_RARE} then 'refused' else 'done' end, '', ${AT}, ${AT} from generate_series(1, ${rows}) i`,
    `insert into conversion_update (workspace_id, status, request_id, created_by, created_at)
     select ${workspaceId}, case when ${IS_RARE} then 'undone' else 'done' end, '', 'Key', ${AT} from generate_series(1, ${rows}) i`,
    `insert into conversion_update_row (update_id, number, fields, outcome)
     select (select min(id) from conversion_update), i, '{}', case when ${IS_RARE} then 'refused' else 'changed' end
     from generate_series(1, ${rows}) i`,
    `insert into person (email, name) select 'p' || i || '@x.example', 'Person ' || i from generate_series(1, ${rows}) i`,
    `insert into membership (person_id, workspace_id, role, affiliate_id, created_at)
     select id, ${workspaceId}, case when id % 2 = 0 then 'analyst' else 'partner' end, case when id % 2 = 1 then ${affiliateId} end,
       timestamptz '2020-01-01' + id * interval '1 minute' from person`,
    `insert into session (person_id, secret_hash, state, expires_at)
     select id, sha256(('session' || id)::bytea), 'full', now() + interval '1 day' from person`,
    `insert into totp (person_id, sealed) select id, '\\x00' from person`,
    `insert into passkey (person_id, name, credential_id, public_key, counter, transports)
     select id, 'Key', ('credential' || id)::bytea, '\\x00', 0, '{}' from person`,
    `insert into one_time_link (secret_hash, kind, workspace_id, email, role, affiliate_id, made_by, created_at, expires_at)
     select sha256(('link' || id)::bytea), 'invitation', ${workspaceId}, email, case when id % 2 = 0 then 'analyst' else 'partner' end,
       case when id % 2 = 1 then ${affiliateId} end, id, timestamptz '2020-01-01' + id * interval '1 minute', now() from person`,
  ];
}

function events(ids: Ids): string[] {
  const { workspaceId, advertiserId, rows, rowsOfLargest } = ids;
  const { offer, affiliate } = ownersOf(ids);
  return [
    `insert into postback (workspace_id, offer_id, affiliate_id, url, created_at)
     select ${workspaceId}, ${offer}, ${affiliate}, 'https://x.example', ${AT} from generate_series(1, ${rows}) i`,
    `insert into conversion (id, workspace_id, offer_id, affiliate_id, advertiser_id, smart_link_id, event_id, event_code, is_private,
       status, revenue, payout, currency, payout_type, payout_rate, revenue_type, revenue_rate, method, click_id, adv_txid, conv_ts,
       holds_click, holds_txid)
     select md5('conversion' || i)::uuid, ${workspaceId}, ${offer}, ${affiliate},
       case when ${IS_RARE} then ${advertiserId} else (select min(id) from advertiser where name like 'Advertiser %') + i % ${rows} end,
       case when i % 1000 = 0 then 1 end, 1, 'default', false, 'approved', 1, 1, 'USD', 'cpa', 1, 'rpa', 1, 'api',
       md5('click' || i), 'order' || i, ${AT}, false, false
     from generate_series(1, ${rowsOfLargest}) i`,
    `insert into conversion_history (conversion_id, at, actor, from_status, to_status, reason, from_revenue, to_revenue, from_payout,
       to_payout, from_sale_amount, to_sale_amount)
     select md5('conversion1')::uuid, ${AT}, 'api', 'approved', 'approved', '', 1, 1, 1, 1, 0, 0 from generate_series(1, ${rows}) i`,
    `insert into delivery (workspace_id, kind, endpoint_id, destination, conversion_id, trigger, facts, status, due_at, created_at, finished_at)
     select ${workspaceId}, 'postback', (select min(id) from postback), 'x.example', md5('conversion' || i)::uuid, 'approved', '{}',
       case when ${IS_RARE} then 'failed' else 'delivered' end, null, ${AT}, ${AT} from generate_series(1, ${rows}) i`,
    `insert into webhook (workspace_id, name, url, events, secret, created_at)
     select ${workspaceId}, 'Hook ' || i, 'https://x.example', '{conversion.created}', 'whsec_' || repeat('0', 48), ${AT}
     from generate_series(1, ${rows}) i`,
    `insert into delivery (workspace_id, kind, endpoint_id, destination, event, event_id, facts, status, due_at, created_at, finished_at)
     select ${workspaceId}, 'webhook', (select min(id) from webhook), 'x.example', 'conversion.created', gen_random_uuid(), '{}',
       case when ${IS_RARE} then 'failed' else 'delivered' end, null, ${AT}, ${AT} from generate_series(1, ${rows}) i`,
    `insert into postback_log (workspace_id, ts, endpoint, http_status, result, click_id, conversion_id, advertiser_id)
     select ${workspaceId}, ${AT}, 'pb', 200, case when ${IS_RARE} then 'unknown_click' else 'approved' end, md5('click' || i),
       md5('conversion' || i)::uuid, case when i % 50 in (0, 1) then (select min(id) from advertiser) end from generate_series(1, ${rows}) i`,
    `insert into audit_log (workspace_id, ts, key_id, action, status, request_id)
     select ${workspaceId}, ${AT}, case when ${IS_RARE} then 1 else 2 end, 'rest POST /api/v1/offers', 201, 'r' || i
     from generate_series(1, ${rows}) i`,
    `insert into ad_cost (workspace_id, date, hour, offer_id, affiliate_id, traffic_source, ext_campaign_id, ext_adgroup_id, currency, amount)
     select ${workspaceId}, date '2020-01-01' + i / 20, i % 24, ${offer}, ${affiliate}, case when ${IS_RARE} then 'rare' else 'google' end,
       i::text, '', case when ${IS_RARE} then 'CHF' else 'USD' end, 1 from generate_series(1, ${rows}) i`,
    `insert into fx_rate (date, currency, rate)
     select date '2020-01-01' + i / 20, (array['EUR', 'GBP', 'CHF', 'SEK', 'NOK', 'DKK', 'PLN', 'CZK', 'HUF', 'RON', 'BGN', 'TRY', 'JPY',
       'CNY', 'INR', 'AUD', 'NZD', 'CAD', 'BRL', 'MXN'])[1 + i % 20], 1 from generate_series(0, ${rows - 1}) i`,
    `insert into workspace_fx_rate (workspace_id, date, currency, rate) select ${workspaceId}, date, currency, rate from fx_rate`,
  ];
}

/**
 * Each advertiser has an account. The account of the tenant's advertiser has all entries and one invoice in fifty, and its smallest invoice covers
 * all entries.
 */
function money({ workspaceId, advertiserId, rows }: Ids): string[] {
  const account = `(select id from ledger_account where owner_id = ${advertiserId})`;
  const advertiser = `case when ${IS_RARE} then ${advertiserId} else (select min(id) from advertiser where name like 'Advertiser %') + i % ${rows} end`;
  return [
    `insert into ledger_account (workspace_id, kind, owner_id, currency)
     select ${workspaceId}, 'advertiser_receivable', id, 'USD' from advertiser where workspace_id = ${workspaceId}`,
    "insert into ledger_balance (account_id) select id from ledger_account",
    "alter table ledger_entry disable trigger is_balanced",
    `insert into ledger_entry (account_id, seq, transaction_id, amount, posted_at, kind, offer_id, event_code, count)
     select ${account}, i, i, 1, now() - interval '1 year' + i * interval '1 second', 'conversion', (select min(id) from offer), 'default', 1
     from generate_series(1, ${rows}) i`,
    "alter table ledger_entry enable trigger is_balanced",
    // Each account has invoices without a range of their own, except for the first, which all entries belong to.
    "alter table invoice disable trigger is_next",
    "alter table invoice disable trigger adds_up",
    `insert into invoice (workspace_id, advertiser_id, account_id, currency, number, status, terms, period_from, period_to, timezone,
       from_seq, to_seq, carried_in, total, payable, gross, carried_out, due_on, created_at)
     select ${workspaceId}, a.id, c.id, 'USD', 'I' || i, 'sent', 'net30', ${AT}, ${AT} + interval '1 minute', 'UTC', 0, ${rows}, 0, 1, 1, 1,
       0, current_date, ${AT}
     from generate_series(1, ${rows}) i
     join advertiser a on a.id = case when i = 1 then ${advertiserId} else ${advertiser} end join ledger_account c on c.owner_id = a.id
     order by i`,
    "alter table invoice enable trigger is_next",
    "alter table invoice enable trigger adds_up",
    `insert into invoice_line (invoice_id, line, kind, offer_id, event_code, count, amount)
     select min(id), 1, 'conversions', (select min(id) from offer), 'default', 1, 1 from invoice`,
    `insert into advertiser_payment (workspace_id, advertiser_id, currency, amount, external_id, received_at, created_at)
     select ${workspaceId}, ${advertiser}, 'USD', 1, 'bank' || i, now(), ${AT} from generate_series(1, ${rows}) i`,
  ];
}

function managed(ids: Ids): string[] {
  const { workspaceId, rows, rowsOfLargest } = ids;
  const { offer, affiliate } = ownersOf(ids);
  const series = `from generate_series(1, ${rows}) i`;
  return [
    `insert into offer_access (offer_id, affiliate_id, status, requested_at)
     select (select min(id) from offer), (select min(id) from affiliate where code like 'C%') + i - 1, 'approved', ${AT} ${series}`,
    `insert into tracking_domain (workspace_id, host, created_at) select ${workspaceId}, 'h' || i || '.example', ${AT} ${series}`,
    // A pair of partner and offer is assigned once. The tenant's partner has no assignment, only its offers have.
    `insert into tracking_domain_assignment (workspace_id, domain_id, affiliate_id, offer_id, created_at)
     select ${workspaceId}, (select min(id) from tracking_domain) + case when ${IS_RARE} then 0 else 1 + i % ${rows - 1} end,
       case when i % 100 = 0 then (select min(id) from affiliate where code like 'C%') else (select min(id) from affiliate where code like 'C%') + i % ${rows} end,
       case when i % 100 = 50 then (select min(id) from offer) else (select min(id) from offer) + 1 + i % ${rows - 1} end, ${AT} ${series}`,
    `insert into link_key (workspace_id, key, offer_id, affiliate_id, created_at)
     select ${workspaceId}, 'key' || i, ${offer}, ${affiliate}, ${AT} ${series}`,
    `insert into smart_link (workspace_id, code, name, affiliate_id, created_at)
     select ${workspaceId}, 'S' || i, 'Smart', ${affiliate}, ${AT} ${series}`,
    `insert into code_alias (workspace_id, alias, offer_id, created_at)
     select ${workspaceId}, 'old-' || i, ${offer}, ${AT} ${series}`,
    `insert into traffic_source_template (workspace_id, name, created_at) select ${workspaceId}, 'Template', ${AT} ${series}`,
    `insert into traffic_control (workspace_id, name, action, created_at) select ${workspaceId}, 'Control', 'block', ${AT} ${series}`,
    `insert into offer_group (workspace_id, name, created_at) select ${workspaceId}, 'Group', ${AT} ${series}`,
    `insert into payout_override (workspace_id, offer_id, affiliate_id, event_code, payout, created_at)
     select ${workspaceId}, ${offer}, ${affiliate}, 'e' || i, 1, ${AT} ${series}`,
    `insert into conversion_rule (workspace_id, name, action, created_at) select ${workspaceId}, 'Rule', 'reject', ${AT} ${series}`,
    `insert into coupon (workspace_id, code, offer_id, affiliate_id, created_at)
     select ${workspaceId}, 'SAVE' || i, ${offer}, ${affiliate}, ${AT} from generate_series(1, ${rowsOfLargest}) i`,
  ];
}

/** Every partner has statements. The first one, of the tenant's partner, has one line with many entries. */
function statements(ids: Ids): string[] {
  const { workspaceId, affiliateId, rows } = ids;
  const { affiliate } = ownersOf(ids);
  const account =
    "(select id from ledger_account a where a.kind = 'partner_payable' and a.currency = 'USD' and a.owner_id =";
  const columns = `insert into statement (workspace_id, affiliate_id, account_id, currency, number, status, terms, period_from, period_to, timezone,
    from_seq, to_seq, carried_in, total, payable, gross, carried_out, due_on, created_at)`;
  return [
    `insert into ledger_account (workspace_id, kind, owner_id, currency) select workspace_id, 'partner_payable', id, 'USD' from affiliate`,
    "alter table ledger_entry disable trigger is_balanced",
    `insert into ledger_entry (account_id, seq, transaction_id, amount, posted_at, kind, conversion_id, offer_id, event_code, count)
     select ${account} ${affiliateId}), i, i, -1, ${AT}, 'conversion', md5('conversion' || i)::uuid, 1, 'default', 1
     from generate_series(1, ${rows}) i`,
    "alter table ledger_entry enable trigger is_balanced",
    "alter table statement disable trigger follows",
    `${columns}
     select ${workspaceId}, ${affiliateId}, ${account} ${affiliateId}), 'USD', 'S-0', 'approved', 'net30', '2020-01-01', '2020-02-01', 'UTC',
       0, ${rows}, 0, ${rows}, ${rows}, ${rows}, 0, '2020-03-01', '2020-02-01'`,
    `${columns}
     select ${workspaceId}, f.id, a.id, 'USD', case when i % 2 = 0 then 'S-' || i end, case when i % 2 = 0 then 'approved' else 'draft' end,
       'net30', ${AT}, ${AT} + interval '1 day', 'UTC', ${rows} + i, ${rows} + i, 0, 1, 1, 1, 0, '2026-01-01', ${AT}
     from generate_series(1, ${rows}) i join affiliate f on f.id = ${affiliate}
     join ledger_account a on a.owner_id = f.id and a.kind = 'partner_payable' and a.currency = 'USD'`,
    "alter table statement enable trigger follows",
    `insert into statement_line (statement_id, line, kind, offer_id, event_code, count, amount)
     select min(id), 1, 'conversions', 1, 'default', ${rows}, ${rows} from statement`,
  ];
}

/** Runs with a line each. */
function payouts(ids: Ids): string[] {
  const { workspaceId, rows } = ids;
  const { affiliate } = ownersOf(ids);
  return [
    `insert into payout_run (workspace_id, status, currency, methods, due_until, execution_date, created_at)
     select ${workspaceId}, case when i % 50 = 1 then 'draft' else 'approved' end, 'USD', '{wire}', '2026-01-01', '2026-01-01', ${AT}
     from generate_series(1, ${rows}) i`,
    `insert into payout_line (run_id, workspace_id, affiliate_id, method, currency, amount, status, created_at)
     select r.id, ${workspaceId}, ${affiliate}, 'wire', 'USD', 1, 'paid', ${AT}
     from (select id, row_number() over (order by id) as i from payout_run) r`,
  ];
}

/** Every partner has an account of the ledger, and every conversion of the first ones an entry. */
function books(ids: Ids): string[] {
  const { workspaceId, advertiserId, rows } = ids;
  const { affiliate } = ownersOf(ids);
  return [
    `insert into ledger_account (workspace_id, kind, owner_id, currency)
     select ${workspaceId}, 'partner_payable', id, 'EUR' from affiliate`,
    `insert into ledger_account (workspace_id, kind, currency) values (${workspaceId}, 'payout_cost', 'EUR')`,
    `insert into ledger_balance (account_id) select id from ledger_account on conflict do nothing`,
    `with posted as (
       insert into ledger_transaction (workspace_id, posted_at, kind, source_kind, source_id)
       select ${workspaceId}, ${AT}, 'conversion', 'conversion', i::text from generate_series(1, ${rows}) i
       returning id, posted_at, source_id::integer as i)
     insert into ledger_entry (account_id, seq, transaction_id, amount, posted_at, kind, conversion_id)
     select a.id, row_number() over (partition by a.id order by p.posted_at), p.id, -1, p.posted_at, 'conversion',
       md5('conversion' || p.i)::uuid
     from posted p join ledger_account a on a.kind = 'partner_payable' and a.currency = 'EUR' and a.owner_id = ${affiliate}
     union all
     select a.id, row_number() over (order by p.posted_at), p.id, 1, p.posted_at, 'conversion', null
     from posted p join ledger_account a on a.kind = 'payout_cost' and a.currency = 'EUR'`,
    `insert into ledger_unposted (history_id, workspace_id, conversion_id, at)
     select id, ${workspaceId}, conversion_id, at from conversion_history`,
    `insert into change_log (workspace_id, resource, at, before, after)
     select ${workspaceId}, case when ${IS_RARE} then 'rare' else 'billing-settings' end, ${AT}, '{}', '{}' from generate_series(1, ${rows}) i`,
    `insert into adjustment (workspace_id, affiliate_id, advertiser_id, currency, amount, kind, reason, created_at)
     select ${workspaceId}, case when i % 100 <> 50 then ${affiliate} end,
       case when i % 100 = 50 then ${advertiserId} end, 'EUR', 1, 'bonus', 'Adjustment ' || i, ${AT} from generate_series(1, ${rows}) i`,
  ];
}
