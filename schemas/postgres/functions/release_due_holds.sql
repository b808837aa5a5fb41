-- Approves the conversions whose hold is over by the clock of this server, the earliest first, at most `rows_max` of them (G98).
-- Conversions of a blocked or rejected partner wait for the staff instead (G233). A row that another session holds is left to it. Whoever
-- asks at the same time finds other rows: each is released once (P18). now(), because an index cannot find the rows before a time that
-- differs from row to row.
create or replace function release_due_holds(rows_max integer) returns integer language plpgsql as $$
declare
  held record;
  before conversion;
  after conversion;
  released integer := 0;
begin
  for held in
    select t as state from conversion t
    where t.hold_until <= now() and t.status = 'pending'
    order by t.hold_until limit rows_max
    for update skip locked
  loop
    before := held.state;
    after := before;
    if exists (select from affiliate a where a.id = before.affiliate_id and a.status in ('blocked', 'rejected')) then
      after.status_reason := 'rule:partner_blocked';
    else
      after.status := 'approved';
      after.status_reason := '';
    end if;
    after.hold_until := null;
    after.version := before.version + 1;
    after.updated_at := clock_timestamp();
    update conversion t
    set status = after.status, status_reason = after.status_reason, hold_until = null, version = after.version,
        updated_at = after.updated_at
    where t.id = before.id;
    perform after_conversion_change(before, after, 'hold', null);
    released := released + 1;
  end loop;
  return released;
end $$;
