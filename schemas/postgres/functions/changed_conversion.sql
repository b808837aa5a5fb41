-- The state of a conversion after a change, see change_conversion. A status that somebody set is not changed by the end of a hold.
create or replace function changed_conversion(before conversion, change jsonb, actor text) returns conversion volatile language plpgsql as $$
declare
  after conversion := jsonb_populate_record(before, change);
begin
  after.version := before.version + 1;
  after.updated_at := clock_timestamp();
  if after.status <> before.status or (actor = 'api' and change ? 'status') then
    after.hold_until := null;
  end if;
  return after;
end $$;
