-- Restores conversions that rows of a file have changed and whose state is still what the file made. Others are kept, also what an approved statement has
-- settled meanwhile.
create or replace function undo_update_rows(u conversion_update, after_number integer, up_to integer) returns void language plpgsql as $$
declare
  cause jsonb := jsonb_strip_nulls(jsonb_build_object('request_id', u.request_id, 'person_id', u.person_id));
  -- What says whether somebody has changed the conversion since.
  compared text[] := '{hold_until,earned,charged}';
  settled uuid[];
  changes conversion_change[];
begin
  perform from conversion t
  where t.id in (select r.conversion_id from conversion_update_row r
    where r.update_id = u.id and r.number > after_number and r.number <= up_to and r.is_applied)
  order by t.id for update;
  settled := array(select s.id from conversions_on_approved_statements(array(select r.conversion_id from conversion_update_row r
    where r.update_id = u.id and r.number > after_number and r.number <= up_to and r.is_applied), u.applied_at) as s(id));
  update conversion_update_row r
  set outcome = 'kept', is_applied = false, faults = jsonb_build_object('',
    case when conversion_update_state(c) - compared <> r.after - compared then 'changed since by somebody else' else 'on an approved statement' end)
  from conversion c
  where r.update_id = u.id and r.number > after_number and r.number <= up_to and r.is_applied and c.id = r.conversion_id
    and (conversion_update_state(c) - compared <> r.after - compared or c.id = any (settled));
  changes := array(
    select row(c, restored_conversion(c, r.before))::conversion_change
    from conversion_update_row r join conversion c on c.id = r.conversion_id
    where r.update_id = u.id and r.number > after_number and r.number <= up_to and r.is_applied
    order by r.number);
  perform change_conversions(changes, 'api', u.key_id, cause);
  update conversion_update_row r set outcome = 'undone', is_applied = false, faults = '{}'
  where r.update_id = u.id and r.number > after_number and r.number <= up_to and r.is_applied;
end $$;
