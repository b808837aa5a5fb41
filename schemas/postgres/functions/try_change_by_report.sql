-- What change_by_report would answer now, with nothing stored: the block takes back all it did.
create or replace function try_change_by_report(of_conversion uuid, from_version integer, change jsonb, caps jsonb, timezone text)
returns jsonb language plpgsql as $$
declare
  answer jsonb;
begin
  begin
    answer := change_by_report(of_conversion, from_version, change, caps, timezone);
    raise exception 'only tried' using errcode = 'TRIED';
  exception when sqlstate 'TRIED' then
    return answer;
  end;
end $$;
