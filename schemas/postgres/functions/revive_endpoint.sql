-- Whoever switches a postback on again gives it a clean slate.
create or replace function revive_endpoint() returns trigger language plpgsql as $$
begin
  new.disabled_reason := '';
  new.failed_in_row := 0;
  return new;
end $$;
