-- Everything two conversions can contend for, locked in one order before the first row of a batch is written: clicks, orders, networks and
-- keys of reports by advisory locks, then the counters. Batches therefore wait for each other in a line and never in a ring (P17).
create or replace function lock_conversions(batch jsonb) returns void language plpgsql as $$
begin
  perform pg_advisory_xact_lock(k.key)
  from (
    select hashtextextended(r.click_id || ' ' || r.event_code, 7265002) as key
    from jsonb_to_recordset(batch) as i("row" jsonb), jsonb_to_record(i."row") as r(click_id text, event_code text)
    where r.click_id is not null
    union
    select hashtextextended(r.offer_id || ' ' || r.adv_txid, 7265003)
    from jsonb_to_recordset(batch) as i("row" jsonb), jsonb_to_record(i."row") as r(offer_id integer, adv_txid text)
    where r.adv_txid is not null
    union
    select hashtextextended((i.item #>> '{row,offer_id}') || ' ' || network_of((i.item #>> '{plan,address_limit,address}')::inet), 7265004)
    from jsonb_array_elements(batch) as i(item)
    where i.item #>> '{plan,address_limit,address}' is not null
    union
    select report_key_lock(i.item -> 'key')
    from jsonb_array_elements(batch) as i(item)
    where i.item ? 'key'
    order by key
  ) k;
  perform lock_caps(batch);
end $$;
