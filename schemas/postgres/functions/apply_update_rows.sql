-- Applies rows of a checked file with all that follows from a change of the staff. A conversion that has changed since the check is judged anew by its
-- state under the lock. The conversions are locked in the order of their ids, as by every change of several.
create or replace function apply_update_rows(u conversion_update, after_number integer, up_to integer) returns void language plpgsql as $$
declare
  cause jsonb := jsonb_build_object('cause',
    jsonb_strip_nulls(jsonb_build_object('request_id', u.request_id, 'person_id', u.person_id)));
  due record;
  done integer[] := '{}';
begin
  perform from conversion t
  where t.id in (select r.conversion_id from conversion_update_row r
    where r.update_id = u.id and r.number > after_number and r.number <= up_to and r.outcome in ('changed', 'unchanged'))
  order by t.id for update;
  for due in
    select r.number, r.fields, c.id, c.version, c.version = r.version as is_as_checked,
      case when r.outcome = 'changed' and c.version = r.version then
        -- Without the status where the row asks for none, so that a hold goes on.
        case when r.fields ? 'status' and (r.fields ? 'reason' or r.fields ->> 'status' <> c.status) then r.after else r.after - 'status' end
        - '{hold_until,earned,charged}'::text[] || cause end as change
    from conversion_update_row r join conversion c on c.id = r.conversion_id
    where r.update_id = u.id and r.number > after_number and r.number <= up_to and r.outcome in ('changed', 'unchanged') and not r.is_applied
    order by r.number
  loop
    if due.change is not null then
      perform change_conversion(due.id, due.version, due.change, 'api', u.key_id);
      done := done || due.number;
    elsif not due.is_as_checked then
      perform apply_changed_update_row(u, due.number, cause);
    end if;
  end loop;
  update conversion_update_row r set is_applied = true where r.update_id = u.id and r.number = any (done);
end $$;
