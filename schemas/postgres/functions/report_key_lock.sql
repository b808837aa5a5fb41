-- The advisory lock of an idempotency key.
create or replace function report_key_lock(k jsonb) returns bigint language sql immutable as $$
  select hashtextextended(concat_ws(' ', k ->> 'workspace_id', k ->> 'advertiser_id', k ->> 'key'), 7265005)
$$;
