-- An erasure by click holds for the clicks of its own workspace only: anybody may name the click of another one.

create function is_click_erased(of_click text, of_workspace integer) returns boolean language sql stable as $$
  select exists (select from erased_click k join erasure e on e.id = k.erasure_id
    where k.click_id = of_click and e.workspace_id = of_workspace)
$$;

-- As in migration 0031, by workspace.
create or replace function row_without_erased(r jsonb) returns jsonb language plpgsql as $$
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
  if matched is not null or of_click is not null and is_click_erased(of_click, of_workspace) then
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

create or replace function log_row_without_erased(r jsonb, names text[]) returns jsonb language plpgsql stable as $$
declare
  of_workspace integer := (r ->> 'workspace_id')::integer;
  erased text[];
begin
  if r ->> 'click_id' is not null and is_click_erased(r ->> 'click_id', of_workspace) then
    return r || jsonb_build_object('params', without_person(r -> 'params', names, '{}'))
      || case when r ->> 'endpoint' = 'pb' then '{}' else '{"ip": null}'::jsonb end;
  end if;
  erased := erased_addresses(of_workspace, (r ->> 'ts')::timestamptz);
  if cardinality(erased) = 0 then
    return r;
  end if;
  if keyed_hash(erasure_key(), host((r ->> 'ip')::inet)) = any(erased) then
    r := r || '{"ip": null}';
  end if;
  return r || jsonb_build_object('params', without_hashed(r -> 'params', erased));
end $$;

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
         join erasure e on e.id = k.erasure_id and e.workspace_id = c.workspace_id
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

drop function is_click_erased(text);
