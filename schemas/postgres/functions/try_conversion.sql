-- What record_conversions would answer for one row now, with nothing stored: the block takes back all it did.
create or replace function try_conversion(input jsonb, plan jsonb) returns jsonb language plpgsql as $$
declare
  answer jsonb;
begin
  begin
    answer := record_conversions(jsonb_build_array(jsonb_build_object('row', input, 'plan', plan))) -> 0;
    raise exception 'only tried' using errcode = 'TRIED';
  exception when sqlstate 'TRIED' then
    return answer;
  end;
end $$;
