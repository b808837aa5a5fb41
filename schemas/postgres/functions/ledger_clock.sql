-- The time at which the ledger of a workspace posts. The books of the demo's past months are posted as of those months: their transaction
-- sets `tracker.books_at` for itself. It counts in the workspace of the demo alone, and a time that is still to come is the present.
create or replace function ledger_clock(of_workspace integer) returns timestamptz language sql volatile as $$
  select least(clock_timestamp(), (
    select nullif(current_setting('tracker.books_at', true), '')::timestamptz
    where exists (select from workspace w where w.id = of_workspace and w.slug = 'demo')))
$$;
