-- What was answered first: {outcome: 'keyed', fingerprint, answer}; null for a new key. `k` is {workspace_id, advertiser_id, key}.
create or replace function find_report_key(k jsonb) returns jsonb language sql stable as $$
  select jsonb_build_object('outcome', 'keyed', 'fingerprint', '\x' || encode(r.fingerprint, 'hex'), 'answer', r.answer)
  from report_key r
  where r.workspace_id = (k ->> 'workspace_id')::integer and r.advertiser_id = (k ->> 'advertiser_id')::integer
    and r.key = k ->> 'key'
$$;
