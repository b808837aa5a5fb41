-- A conversion in a state that conversion_update_state has kept, with the hold that it had.
create or replace function restored_conversion(current conversion, kept jsonb) returns conversion volatile language plpgsql as $$
declare
  after conversion := changed_conversion(current, kept - '{hold_until,earned,charged}'::text[], 'api');
begin
  after.hold_until := (kept ->> 'hold_until')::timestamptz;
  return after;
end $$;
