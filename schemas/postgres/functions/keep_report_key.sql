-- Keeps the answer to a report that changed nothing, such as a refusal. If the report already has an answer, that one stays. Returns the
-- kept one.
create or replace function keep_report_key(k jsonb, answer jsonb) returns jsonb language plpgsql as $$
begin
  perform pg_advisory_xact_lock(report_key_lock(k));
  if find_report_key(k) is null then
    perform add_report_key(k, answer);
  end if;
  return find_report_key(k);
end $$;
