-- change_by_report under a key: its answer is kept with the change. Nobody who holds a row waits for the lock of a key.
create or replace function change_by_keyed_report(k jsonb, of_conversion uuid, from_version integer, change jsonb, caps jsonb, timezone text)
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
