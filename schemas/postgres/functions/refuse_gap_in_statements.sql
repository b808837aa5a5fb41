-- Triggers: the statements of an account are a chain. Each begins where the newest one that is not void ends, and takes over what that one left
-- (I6), so no entry is on two statements or on none. After it is made, a statement only moves from one state to the next.
create or replace function refuse_gap_in_statements() returns trigger language plpgsql as $$
declare
  -- Of the newest one; null without one.
  ends_at bigint;
  carried numeric;
  ended_at timestamptz;
begin
  -- Whoever adds to the chain of an account does it under the lock of its balance.
  perform from ledger_balance b where b.account_id = new.account_id for update;
  select s.to_seq, s.carried_out, s.period_to into ends_at, carried, ended_at from statement s
  where s.account_id = new.account_id and s.status <> 'void' order by s.to_seq desc, s.period_to desc limit 1;
  if new.status not in ('draft', 'carried') or new.from_seq <> coalesce(ends_at, 0)
    or new.carried_in <> coalesce(carried, 0) or new.period_from < coalesce(ended_at, '-infinity')
    or new.period_to <= new.period_from
    or new.to_seq > (select b.last_seq from ledger_balance b where b.account_id = new.account_id)
  then
    raise exception 'a statement of account % does not follow the one before it', new.account_id using errcode = 'check_violation';
  end if;
  return new;
end $$;
