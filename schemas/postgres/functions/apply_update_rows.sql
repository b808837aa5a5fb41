-- Applies rows of a checked file, each judged anew by the state of its conversion under its lock, with all that follows from a change of the staff. The
-- conversions are locked in the order of their ids, as by every change of several.
create or replace function apply_update_rows(u conversion_update, after_number integer, up_to integer) returns void language plpgsql as $$
declare
  cause jsonb := jsonb_strip_nulls(jsonb_build_object('request_id', u.request_id, 'person_id', u.person_id));
  due record;
  judged record;
begin
  perform from conversion t
  where t.id in (select r.conversion_id from conversion_update_row r
    where r.update_id = u.id and r.number > after_number and r.number <= up_to and r.outcome in ('changed', 'unchanged'))
  order by t.id for update;
  for due in
    select r.number, r.fields, c as state from conversion_update_row r join conversion c on c.id = r.conversion_id
    where r.update_id = u.id and r.number > after_number and r.number <= up_to and r.outcome in ('changed', 'unchanged') and not r.is_applied
    order by r.number
  loop
    select j.asked, j.after, j.faults into judged from judge_update_row(due.state, due.fields) j;
    if judged.faults <> '{}' then
      update conversion_update_row r set outcome = 'refused', faults = judged.faults where r.update_id = u.id and r.number = due.number;
    elsif change_as_asked(due.state, judged.after, judged.asked || jsonb_build_object('cause', cause), u.key_id) then
      update conversion_update_row r
      set outcome = 'changed', is_applied = true, before = conversion_update_state(due.state), after = conversion_update_state(judged.after)
      where r.update_id = u.id and r.number = due.number;
    else
      update conversion_update_row r set outcome = 'unchanged' where r.update_id = u.id and r.number = due.number and r.outcome <> 'unchanged';
    end if;
  end loop;
end $$;
