-- A row of the inbound log without what was erased before it. `names` are the parameters that describe a visitor, in lower case.
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
