-- Adds rows for conversions of the offers and the time of an update that its file does not name, at most `rows_max` at a time: they are rejected (N129).
-- Conversions that a refused row names are named. Answers how many were added.
create or replace function add_missing_conversions(u conversion_update, rows_max integer) returns integer language plpgsql as $$
declare
  added integer;
begin
  insert into conversion_update_row (update_id, number, is_missing, fields, conversion_id)
  select u.id, u.position + row_number() over (order by m.conv_ts, m.id), true,
    jsonb_build_object('status', 'rejected', 'reason', u.missing_reason), m.id
  from (
    select c.conv_ts, c.id from conversion c
    where c.workspace_id = u.workspace_id and c.offer_id = any (u.offer_ids) and c.conv_ts >= u.missing_from and c.conv_ts < u.missing_to
      and not c.is_duplicate and c.status <> 'rejected'
      -- `+ 0` leaves only the index by conversion, see there.
      and not exists (select from conversion_update_row r where r.update_id + 0 = u.id and r.conversion_id = c.id)
    limit rows_max) m;
  get diagnostics added = row_count;
  return added;
end $$;
