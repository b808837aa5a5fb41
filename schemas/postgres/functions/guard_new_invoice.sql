-- A trigger: a new invoice begins where the last one of its account ended and carries in what that one left, whoever inserts it (I6).
create or replace function guard_new_invoice() returns trigger language plpgsql as $$
declare
  last record;
begin
  if new.kind = 'credit_note' then
    return new;
  end if;
  -- One invoice of an account at a time; nothing is posted to it meanwhile.
  perform from ledger_balance where account_id = new.account_id for update;
  select to_seq, carried_out, period_to into last
  from invoice
  where account_id = new.account_id and kind = 'invoice' and status <> 'void'
  order by to_seq desc, period_to desc limit 1;
  if new.from_seq <> coalesce(last.to_seq, 0) or new.carried_in <> coalesce(last.carried_out, 0) or new.period_to <= last.period_to then
    raise exception 'an invoice of account % does not continue the last one', new.account_id using errcode = 'check_violation';
  end if;
  if new.status not in ('draft', 'carried') then
    raise exception 'a new invoice is a draft or carried' using errcode = 'check_violation';
  end if;
  return new;
end $$;
