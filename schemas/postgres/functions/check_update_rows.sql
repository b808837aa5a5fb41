-- Checks rows of a file: what each would do to its conversion now. The first row that names a conversion counts, and the others are duplicates of it.
create or replace function check_update_rows(u conversion_update, after_number integer, up_to integer) returns void language plpgsql as $$
declare
  -- As change_as_asked compares.
  unseen text[] := '{hold_until,payout_given,revenue_given}';
begin
  perform find_update_conversions(u, after_number, up_to);
  update conversion_update_row r
  set outcome = case
        when j.first < r.number then 'duplicate_row'
        when r.faults <> '{}' or j.faults <> '{}' then 'refused'
        when j.after - unseen = j.before - unseen then 'unchanged'
        else 'changed' end,
      faults = r.faults || j.faults, affiliate_id = j.affiliate_id, currency = j.currency, before = j.before, after = j.after,
      version = j.version
  from (
    select w.ctid, w.number, c.version, c.affiliate_id, c.currency, conversion_update_state(c) as before, conversion_update_state(g.after) as after, g.faults,
      -- `+ 0` leaves only the index by conversion, see there.
      (select min(o.number) from conversion_update_row o
       where o.update_id + 0 = u.id and o.conversion_id = w.conversion_id) as first
    from conversion_update_row w
    join conversion c on c.id = w.conversion_id
    -- The values of a refused row may be anything.
    cross join lateral judge_update_row(c, case when w.faults = '{}' then w.fields else '{}' end) g
    where w.update_id = u.id and w.number > after_number and w.number <= up_to and w.conversion_id is not null
  ) j
  -- By its place: of a new file Postgres has no statistics, and would read other rows of the step for each of them.
  where r.ctid = j.ctid;
end $$;
