-- Applies one row whose conversion has changed since the check. The caller has locked the conversion.
create or replace function apply_changed_update_row(u conversion_update, of_number integer, cause jsonb) returns void language plpgsql as $$
declare
  given jsonb := (select r.fields from conversion_update_row r where r.update_id = u.id and r.number = of_number);
  current conversion := (select c from conversion_update_row r join conversion c on c.id = r.conversion_id
    where r.update_id = u.id and r.number = of_number);
  judged record;
begin
  select j.asked, j.after, j.faults into judged from judge_update_row(current, given) j;
  if judged.faults <> '{}' then
    update conversion_update_row r set outcome = 'refused', faults = judged.faults where r.update_id = u.id and r.number = of_number;
  elsif change_as_asked(current, judged.after, judged.asked || cause, u.key_id) then
    update conversion_update_row r
    set outcome = 'changed', is_applied = true, before = conversion_update_state(current), after = conversion_update_state(judged.after)
    where r.update_id = u.id and r.number = of_number;
  else
    update conversion_update_row r
    set outcome = 'unchanged', before = conversion_update_state(current), after = conversion_update_state(current)
    where r.update_id = u.id and r.number = of_number;
  end if;
end $$;
