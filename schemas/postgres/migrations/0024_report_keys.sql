-- Idempotency keys of reports (G203): the first answer of each, for 7 days.

create table report_key (
  workspace_id integer not null,
  -- Whose token it was: 0 for the workspace's own.
  advertiser_id integer not null,
  key text not null,
  -- Of the report that came with it, as in conversion.report_fingerprint.
  fingerprint bytea not null,
  -- {taken} for what was recorded or changed, {reply} for every other answer.
  answer jsonb not null,
  created_at timestamptz(3) not null default clock_timestamp(),
  primary key (workspace_id, advertiser_id, key)
);
create index report_key_age on report_key using brin (created_at);

create function report_key_lock(k jsonb) returns bigint language sql immutable as $$
  select hashtextextended(concat_ws(' ', k ->> 'workspace_id', k ->> 'advertiser_id', k ->> 'key'), 7265005)
$$;

-- What was answered first: {outcome: 'keyed', fingerprint, answer}; null for a new key. `k` is {workspace_id, advertiser_id, key}.
create function find_report_key(k jsonb) returns jsonb language sql stable as $$
  select jsonb_build_object('outcome', 'keyed', 'fingerprint', '\x' || encode(r.fingerprint, 'hex'), 'answer', r.answer)
  from report_key r
  where r.workspace_id = (k ->> 'workspace_id')::integer and r.advertiser_id = (k ->> 'advertiser_id')::integer
    and r.key = k ->> 'key'
$$;

-- `k` as above, and its fingerprint. The caller holds report_key_lock and has found nothing.
create function add_report_key(k jsonb, answer jsonb) returns void language sql as $$
  insert into report_key (workspace_id, advertiser_id, key, fingerprint, answer)
  values ((k ->> 'workspace_id')::integer, (k ->> 'advertiser_id')::integer, k ->> 'key', (k ->> 'fingerprint')::bytea, answer)
$$;

-- Keeps an answer that changed nothing, such as a refusal. Answers what was first: this one or another.
create function keep_report_key(k jsonb, answer jsonb) returns jsonb language plpgsql as $$
begin
  perform pg_advisory_xact_lock(report_key_lock(k));
  if find_report_key(k) is null then
    perform add_report_key(k, answer);
  end if;
  return find_report_key(k);
end $$;

-- As in migration 0005; keys of reports are locked with the clicks and orders.
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

-- As in migration 0005. An item may have a `key` {workspace_id, advertiser_id, key, fingerprint, details}: the first of them is recorded
-- with its answer, the others are told that answer.
create or replace function record_conversions(batch jsonb) returns jsonb language plpgsql as $$
declare
  item jsonb;
  outcome jsonb;
  outcomes jsonb := '[]';
begin
  perform lock_conversions(batch);
  for item in select i.item from jsonb_array_elements(batch) as i(item) loop
    outcome := null;
    if item ? 'key' then
      outcome := find_report_key(item -> 'key');
    end if;
    if outcome is null then
      outcome := record_conversion(item -> 'row', jsonb_populate_record(null::conversion_plan, item -> 'plan'));
      if item ? 'key' and outcome ->> 'outcome' = 'recorded' then
        perform add_report_key(item -> 'key', jsonb_build_object('taken', jsonb_build_object(
          'conversionId', outcome -> 'id', 'status', outcome -> 'status', 'reason', outcome -> 'status_reason',
          'isDuplicate', outcome -> 'is_duplicate', 'isUpdate', false, 'details', item -> 'key' -> 'details')));
      end if;
    end if;
    outcomes := outcomes || jsonb_build_array(outcome);
  end loop;
  return outcomes;
end $$;

-- change_by_report under a key: its answer is kept with the change. Nobody who holds a row waits for the lock of a key.
create function change_by_keyed_report(k jsonb, of_conversion uuid, from_version integer, change jsonb, caps jsonb, timezone text)
returns jsonb language plpgsql as $$
declare
  outcome jsonb;
begin
  perform pg_advisory_xact_lock(report_key_lock(k));
  outcome := find_report_key(k);
  if outcome is not null then
    return outcome;
  end if;
  outcome := change_by_report(of_conversion, from_version, change, caps, timezone);
  if outcome ->> 'outcome' <> 'stale' then
    perform add_report_key(k, jsonb_build_object('taken', jsonb_build_object(
      'conversionId', of_conversion, 'status', outcome -> 'status', 'reason', outcome -> 'status_reason', 'isDuplicate', false,
      'isUpdate', true, 'details', k -> 'details')));
  end if;
  return outcome;
end $$;
