-- Applies rows of a checked file with all that follows from a change of the staff. A conversion that has changed since the check is judged anew by its
-- state under the lock. The conversions are locked in the order of their ids, as by every change of several.
create or replace function apply_update_rows(u conversion_update, after_number integer, up_to integer) returns void language plpgsql as $$
declare
  cause jsonb := jsonb_strip_nulls(jsonb_build_object('request_id', u.request_id, 'person_id', u.person_id));
  due integer;
  changes conversion_change[];
  done integer[];
begin
  perform from conversion t
  where t.id in (select r.conversion_id from conversion_update_row r
    where r.update_id = u.id and r.number > after_number and r.number <= up_to and r.outcome in ('changed', 'unchanged'))
  order by t.id for update;
  for due in
    select r.number from conversion_update_row r join conversion c on c.id = r.conversion_id
    where r.update_id = u.id and r.number > after_number and r.number <= up_to and r.outcome in ('changed', 'unchanged') and not r.is_applied
      and c.version <> r.version
    order by r.number
  loop
    perform apply_changed_update_row(u, due, jsonb_build_object('cause', cause));
  end loop;
  -- One row for each conversion: the others are duplicates of it.
  select array_agg(row(c, changed_conversion(c,
      -- Without the status where the row asks for none, so that a hold goes on.
      case when r.fields ? 'status' and (r.fields ? 'reason' or r.fields ->> 'status' <> c.status) then r.after else r.after - 'status' end
        - '{hold_until,earned,charged}'::text[], 'api'))::conversion_change order by r.number),
    array_agg(r.number)
  into changes, done
  from conversion_update_row r join conversion c on c.id = r.conversion_id
  where r.update_id = u.id and r.number > after_number and r.number <= up_to and r.outcome = 'changed' and not r.is_applied
    and c.version = r.version;
  if done is not null then
    perform change_conversions(changes, 'api', u.key_id, cause);
    update conversion_update_row r set is_applied = true where r.update_id = u.id and r.number = any (done);
  end if;
end $$;
