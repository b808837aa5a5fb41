-- A row for record_conversion without what was erased in its workspace before it. If an e-mail was erased after its report was made, the
-- click of the report belongs to that erasure, too, which is then due at once.
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
