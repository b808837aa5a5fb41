-- A Postgres that was restored from an older copy would give ids again that its lost time had given (P38). It can only become older
-- by being started on other data, by a standby that takes over, or by a restore into the database. Each of these shows in
-- store_life(), so ids wait after each until the sequences have been compared with what ClickHouse was told of them
-- (schemas/installation/compare-stores.ts).

-- The life in which the sequences may give ids; 'closed' after an orderly end of all processes; null until the first comparison.
alter table store_beat add column verified_life text;
-- Which life a process is lifting the sequences for since lifted_at.
alter table store_beat add column lifting_life text;

create function store_life() returns text language sql stable as $$
  select concat_ws('/', extract(epoch from pg_postmaster_start_time()),
    (select oid from pg_database where datname = current_database()), to_regclass('store_beat')::oid)
$$;

-- SQLSTATE 57P03 (cannot_connect_now) is an outage to every caller: it is answered with 503 and repeated.
create function refuse_unverified_ids() returns trigger language plpgsql as $$
begin
  if exists (select from store_beat where verified_life <> store_life()) then
    raise exception 'Postgres was started anew and gives no ids until it has been compared with ClickHouse'
      using errcode = 'cannot_connect_now', hint = 'Try again in a few seconds; processors, api or `tracker migrate` compare them.';
  end if;
  return null;
end $$;

-- Every table whose ids people, links or ClickHouse refer to. Producer numbers are protected by nonces (ingress_producer), and a
-- click or a conversion must not wait for ClickHouse.
do $$
declare
  guarded name;
begin
  foreach guarded in array array[
    'workspace', 'app_user', 'advertiser', 'offer', 'offer_event', 'affiliate', 'payout_override', 'tracking_domain',
    'tracking_domain_assignment', 'link_key', 'smart_link', 'traffic_source_template', 'traffic_control', 'blocklist_entry',
    'workspace_blocklist_entry', 'api_key', 'offer_group', 'conversion_rule', 'coupon', 'postback', 'creative', 'deal', 'product_feed',
    'webhook', 'ad_cost']::name[]
  loop
    execute format('create trigger ids_are_verified before insert on %I for each statement execute function refuse_unverified_ids()', guarded);
  end loop;
end $$;
