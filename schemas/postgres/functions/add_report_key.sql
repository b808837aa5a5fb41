-- `k` as above, and its fingerprint. The caller holds report_key_lock and has found nothing.
create or replace function add_report_key(k jsonb, answer jsonb) returns void language sql as $$
  insert into report_key (workspace_id, advertiser_id, key, fingerprint, answer)
  values ((k ->> 'workspace_id')::integer, (k ->> 'advertiser_id')::integer, k ->> 'key', (k ->> 'fingerprint')::bytea, answer)
$$;
