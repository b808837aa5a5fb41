-- The time at which the ledger posts. The books of the demo's past months are posted as of those months: their transaction sets
-- `tracker.books_at` for itself. A time that is still to come is the present.
create or replace function ledger_clock() returns timestamptz language sql volatile as $$
  select least(clock_timestamp(), nullif(current_setting('tracker.books_at', true), '')::timestamptz)
$$;
