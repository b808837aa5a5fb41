-- Staff set a status, or amounts (section 4.8, N130); see conversion_as_asked. Rows are locked in the order of ids and answered in the order of `ids`,
-- each once. A row that is already so is answered and left alone. Duplicates are left alone unless `reject_duplicates`, and then only rejected.
create or replace function set_conversion_status(of_workspace integer, ids uuid[], change jsonb, reject_duplicates boolean, by_key integer)
returns table (id uuid, outcome text, status text, status_reason text) language plpgsql as $$
#variable_conflict use_column
declare
  wanted uuid;
  current conversion;
  changed conversion;
begin
  perform from conversion t where t.workspace_id = of_workspace and t.id = any(ids) order by t.id for update;
  for wanted in
    select i.id from unnest(ids) with ordinality as i(id, place) group by i.id order by min(i.place)
  loop
    current := (select t from conversion t where t.workspace_id = of_workspace and t.id = wanted);
    if current.id is null then
      return query select wanted, 'not-found', '', '';
      continue;
    end if;
    if current.is_duplicate and not (reject_duplicates and change ->> 'status' = 'rejected'
         and not change ?| array['sale_amount', 'payout', 'revenue']) then
      return query select wanted, 'duplicate', current.status, current.status_reason;
      continue;
    end if;
    changed := conversion_as_asked(current, change);
    perform change_as_asked(current, changed, change, by_key);
    return query select wanted, 'updated', changed.status, changed.status_reason;
  end loop;
end $$;
