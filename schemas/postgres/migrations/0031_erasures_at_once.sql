-- An erasure (G207) also holds for what is stored after it: for clicks, reports, rows of the inbound log and results of deliveries
-- that were on their way. And a lease in a row, not a lock of a session, keeps it to one erasure at a time.

create table erasure_lease (
  id integer primary key check (id = 1),
  token uuid,
  expires_at timestamptz(3) not null default '-infinity'
);
insert into erasure_lease (id) values (1);

-- Readers ask for what was added since they last asked.
alter table erased_click add column added_at timestamptz(3) not null default clock_timestamp();
create index erased_click_added on erased_click (added_at);
create index erased_click_id on erased_click (click_id);

-- Keys of reports by the conversion that they were answered with.
create index report_key_conversion on report_key ((coalesce(answer #>> '{taken,conversionId}', answer ->> 'conversionId')))
  where coalesce(answer #>> '{taken,conversionId}', answer ->> 'conversionId') is not null;

-- As erasureKey() of schemas/erasure makes it.
create function erasure_key() returns text language sql stable as $$
  select encode(sha256(convert_to('erasure ' || i.secret, 'UTF8')), 'hex') from installation i
$$;

create function is_click_erased(of_click text) returns boolean language sql stable as $$
  select exists (select from erased_click k where k.click_id = of_click)
$$;

-- Keyed hashes of the addresses that were erased in a workspace at `since` or later.
create function erased_addresses(of_workspace integer, since timestamptz) returns text[] language sql stable as $$
  select coalesce(array_agg(h), '{}') from erasure e, unnest(e.subject) h
  where e.at >= since and e.workspace_id = of_workspace and e.kind = 'ip'
$$;

-- Parameters with empty values in place of those whose keyed hash is among `erased`.
create function without_hashed(params jsonb, erased text[]) returns jsonb language sql stable strict as $$
  select coalesce(jsonb_object_agg(p.key, case
    when keyed_hash(erasure_key(), p.value #>> '{}') = any(erased) then '""'::jsonb else p.value end), '{}')
  from jsonb_each(params) p
$$;

-- Whether a text has an address whose keyed hash is among `erased`, also percent-encoded.
create function has_hashed_address(content text, erased text[]) returns boolean language sql stable strict as $$
  select cardinality(erased) > 0 and exists (
    select from regexp_matches(lower(replace(replace(content, '%3A', ':'), '%3a', ':')),
      '[0-9]{1,3}(?:\.[0-9]{1,3}){3}|[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,7}', 'g') m
    where keyed_hash(erasure_key(), m[1]) = any(erased))
$$;

-- A row for record_conversion without what was erased before it. A report from before an erasure of its e-mail makes its click one
-- of that erasure, which is due at once.
create function row_without_erased(r jsonb) returns jsonb language plpgsql as $$
declare
  of_click text := r ->> 'click_id';
  of_workspace integer := (r ->> 'workspace_id')::integer;
  reported_at timestamptz := (r ->> 'conv_ts')::timestamptz;
  matched bigint[];
  erased text[];
begin
  if r ->> 'email_hash' is not null then
    matched := (select array_agg(e.id) from erasure e
      where e.at >= reported_at and e.workspace_id = of_workspace and e.kind = 'email'
        and e.subject[1] = keyed_hash(erasure_key(), r ->> 'email_hash'));
    if of_click is not null and matched is not null then
      insert into erased_click (erasure_id, click_id) select id, of_click from unnest(matched) id on conflict do nothing;
      update erasure e set repeat_at = clock_timestamp() where e.id = any(matched);
    end if;
  end if;
  if matched is not null or of_click is not null and is_click_erased(of_click) then
    return r || '{"conv_ip": null, "email_hash": null, "phone_hash": null, "report_fingerprint": null}'
      || jsonb_build_object('click', coalesce(r -> 'click', '{}')
        - array['gclid', 'gbraid', 'wbraid', 'msclkid', 'fbclid', 'ttclid']);
  end if;
  erased := erased_addresses(of_workspace, reported_at);
  if cardinality(erased) = 0 then
    return r;
  end if;
  if keyed_hash(erasure_key(), host((r ->> 'conv_ip')::inet)) = any(erased) then
    r := r || '{"conv_ip": null, "report_fingerprint": null}';
  end if;
  return r || jsonb_build_object('params', without_hashed(coalesce(r -> 'params', '{}'), erased));
end $$;

-- A row of the inbound log without what was erased before it. `names` are the parameters that describe a visitor, in lower case.
create function log_row_without_erased(r jsonb, names text[]) returns jsonb language plpgsql stable as $$
declare
  erased text[];
begin
  if r ->> 'click_id' is not null and is_click_erased(r ->> 'click_id') then
    return r || jsonb_build_object('params', without_person(r -> 'params', names, '{}'))
      || case when r ->> 'endpoint' = 'pb' then '{}' else '{"ip": null}'::jsonb end;
  end if;
  erased := erased_addresses((r ->> 'workspace_id')::integer, (r ->> 'ts')::timestamptz);
  if cardinality(erased) = 0 then
    return r;
  end if;
  if keyed_hash(erasure_key(), host((r ->> 'ip')::inet)) = any(erased) then
    r := r || '{"ip": null}';
  end if;
  return r || jsonb_build_object('params', without_hashed(r -> 'params', erased));
end $$;

-- As in migration 0028, without what was erased.
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
      outcome := record_conversion(row_without_erased(item -> 'row'),
        jsonb_populate_record(null::conversion_plan, item -> 'plan'));
      if item ? 'key' and outcome ->> 'outcome' = 'recorded' then
        perform add_report_key(item -> 'key', jsonb_build_object('taken', jsonb_build_object(
          'conversionId', outcome -> 'id', 'status', outcome -> 'status', 'reason', outcome -> 'status_reason',
          'isDuplicate', outcome -> 'is_duplicate', 'isUpdate', false, 'details', item -> 'key' -> 'details')));
      end if;
      if item ? 'coupon_click' and outcome ->> 'outcome' = 'recorded' then
        insert into coupon_click (click_id, conversion_id, click, producer, until_ms)
        values (item #>> '{coupon_click,click,click_id}', (outcome ->> 'id')::uuid, item #> '{coupon_click,click}',
          (item #>> '{coupon_click,producer}')::integer, (item #>> '{coupon_click,until_ms}')::bigint);
      end if;
    end if;
    outcomes := outcomes || jsonb_build_array(outcome);
  end loop;
  return outcomes;
end $$;

-- As in migration 0007. A request that was made before an erasure of the last minute, longer than a lease, keeps neither its URL nor
-- its answer: both may have what was erased.
create or replace function settle_delivery(of_id uuid, token uuid, result jsonb) returns text language plpgsql as $$
declare
  held delivery := (select d from delivery d where d.id = of_id and d.lease_token = token for update);
  is_final boolean := result ->> 'status' <> 'retrying';
  erased text[];
begin
  if held.id is null then
    return 'stale';
  end if;
  if result ->> 'error' = 'conversion rejected' and exists (
       select from conversion c where c.id = held.conversion_id and c.status <> 'rejected' and not c.is_duplicate) then
    update delivery d set due_at = clock_timestamp(), lease_token = null, attempts = d.attempts - 1 where d.id = of_id;
    return 'due';
  end if;
  if exists (select from conversion c join erased_click k on k.click_id = c.click_id
       where c.id = held.conversion_id and k.added_at > clock_timestamp() - interval '1 minute') then
    result := result || '{"url": "", "response_body": ""}';
  end if;
  erased := erased_addresses(held.workspace_id, clock_timestamp() - interval '1 minute');
  if has_hashed_address(result ->> 'url' || ' ' || (result ->> 'response_body'), erased) then
    result := result || '{"url": "", "response_body": ""}';
  end if;
  update delivery d
  set status = result ->> 'status',
      url = result ->> 'url',
      error = result ->> 'error',
      response_status = (result ->> 'response_status')::integer,
      response_body = result ->> 'response_body',
      attempts = d.attempts - case when (result ->> 'is_sent')::boolean then 0 else 1 end,
      due_at = case when is_final then null
        else clock_timestamp() + (result ->> 'retry_in_ms')::bigint * interval '1 millisecond' end,
      finished_at = case when is_final then clock_timestamp() end,
      lease_token = null
  where d.id = of_id;
  if is_final and (result ->> 'status' = 'delivered' or (result ->> 'is_endpoints_fault')::boolean)
     and count_endpoint_outcome(held.kind, held.endpoint_id, result ->> 'status' = 'delivered', result ->> 'error') then
    return 'disabled';
  end if;
  return 'settled';
end $$;

-- Who must not record a coupon's click any more (TRK-037), because the right to it passed on. A journal that comes home after that
-- may have it all the same; the click writer leaves it out then. `added_at` is for readers, as above.
create table coupon_click_passed (
  click_id text not null,
  producer integer not null,
  added_at timestamptz(3) not null default clock_timestamp(),
  primary key (click_id, producer)
);
create index coupon_click_passed_added on coupon_click_passed (added_at);

alter table click_lost drop constraint click_lost_reason_check,
  add constraint click_lost_reason_check check (reason in ('declared', 'unreadable', 'passed on'));
