-- Does the next rows of an update in one transaction, and answers the state after it; null while another process does some, or if there is nothing to do.
-- A process that dies leaves the update as it was before.
create or replace function step_conversion_update(of_update integer, rows_max integer) returns text language plpgsql as $$
declare
  u conversion_update := (select t from conversion_update t where t.id = of_update for update skip locked);
  up_to integer;
  next_status text;
begin
  if u.id is null or u.status not in ('checking', 'applying', 'undoing') then
    return null;
  end if;
  up_to := (select max(r.number) from (select n.number from conversion_update_row n
    where n.update_id = u.id and n.number > u.position order by n.number limit rows_max) r);
  if up_to is not null then
    case u.status
      when 'checking' then perform check_update_rows(u, u.position, up_to);
      when 'applying' then perform apply_update_rows(u, u.position, up_to);
      else perform undo_update_rows(u, u.position, up_to);
    end case;
    update conversion_update t set position = up_to, attempts = 0 where t.id = u.id;
    return u.status;
  end if;
  if u.status = 'checking' and u.missing = 'reject' and add_missing_conversions(u, 20000) > 0 then
    if u.position - u.last_number < 200000 then
      return u.status;
    end if;
    delete from conversion_update_row r where r.update_id = u.id and r.number > u.position;
    update conversion_update t
    set status = 'failed', ended_at = clock_timestamp(), message = 'More than 200000 conversions are missing in the file: choose a shorter time.'
    where t.id = u.id;
    return 'failed';
  end if;
  next_status := case u.status when 'checking' then 'checked' when 'applying' then 'done' else 'undone' end;
  update conversion_update t
  set status = next_status, ended_at = case when next_status <> 'checked' then clock_timestamp() end,
      counts = s.counts, sums = case when u.status = 'undoing' then u.sums else s.sums end
  from summarize_conversion_update(u.id) s
  where t.id = u.id;
  return next_status;
end $$;
