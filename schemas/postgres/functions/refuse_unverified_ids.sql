-- SQLSTATE 57P03 (cannot_connect_now) is an outage to every caller: it is answered with 503 and repeated.
create or replace function refuse_unverified_ids() returns trigger language plpgsql as $$
begin
  if exists (select from store_beat where verified_life <> store_life()) then
    raise exception 'Postgres was started anew and gives no ids until it has been compared with ClickHouse'
      using errcode = 'cannot_connect_now', hint = 'Try again in a few seconds; processors, api or `tracker migrate` compare them.';
  end if;
  return null;
end $$;
