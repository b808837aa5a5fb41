-- Restores conversions that rows of a file have changed and whose state is still what the file made. Others are kept, also what an approved statement has
-- settled meanwhile.
create or replace function undo_update_rows(u conversion_update, after_number integer, up_to integer) returns void language plpgsql as $$
declare
  cause jsonb := jsonb_strip_nulls(jsonb_build_object('request_id', u.request_id, 'person_id', u.person_id));
  -- What says whether somebody has changed the conversion since.
  compared text[] := '{hold_until,earned,charged}';
  due record;
  fault text;
begin
  perform from conversion t
  where t.id in (select r.conversion_id from conversion_update_row r
    where r.update_id = u.id and r.number > after_number and r.number <= up_to and r.is_applied)
  order by t.id for update;
  for due in
    select r.number, r.before, r.after, c as state from conversion_update_row r join conversion c on c.id = r.conversion_id
    where r.update_id = u.id and r.number > after_number and r.number <= up_to and r.is_applied
    order by r.number
  loop
    fault := case
      when conversion_update_state(due.state) - compared <> due.after - compared then 'changed since by somebody else'
      when is_on_approved_statement((due.state).id, u.applied_at) then 'on an approved statement' end;
    if fault is null then
      perform change_conversion((due.state).id, (due.state).version,
        (due.before - '{hold_until,earned,charged}'::text[]) || jsonb_build_object('cause', cause), 'api', u.key_id);
      update conversion t set hold_until = (due.before ->> 'hold_until')::timestamptz
      where t.id = (due.state).id and due.before ->> 'hold_until' is not null;
    end if;
    update conversion_update_row r
    set outcome = case when fault is null then 'undone' else 'kept' end, is_applied = false,
        faults = case when fault is null then '{}'::jsonb else jsonb_build_object('', fault) end
    where r.update_id = u.id and r.number = due.number;
  end loop;
end $$;
