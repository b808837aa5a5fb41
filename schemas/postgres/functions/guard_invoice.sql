-- Triggers of invoices. A new invoice begins where the last one of its account ended and carries in what that one left, whoever inserts it (I6).
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

-- What was invoiced never changes. Only these do: the status by its steps, the number and the parties at approval, and what payments cover.
create or replace function guard_invoice_change() returns trigger language plpgsql as $$
declare
  kept invoice := new;
begin
  kept.status := old.status;
  kept.paid := old.paid;
  if old.status = 'draft' then
    kept.number := old.number;
    kept.parties := old.parties;
    kept.approved_at := old.approved_at;
    kept.approved_key_id := old.approved_key_id;
    kept.approved_person_id := old.approved_person_id;
  end if;
  if new.status = 'void' then
    kept.voided_at := old.voided_at;
  end if;
  if kept is distinct from old then
    raise exception 'invoice % is refused a change of what it says', old.id using errcode = 'insufficient_privilege';
  end if;
  if new.status <> old.status and not (case old.status
      when 'draft' then new.status in ('sent', 'void')
      when 'carried' then new.status = 'void'
      when 'sent' then new.status in ('part_paid', 'paid', 'credited')
      when 'part_paid' then new.status in ('sent', 'paid', 'credited')
      when 'paid' then new.status in ('sent', 'part_paid', 'credited')
      else false end) then
    raise exception 'invoice % cannot go from % to %', old.id, old.status, new.status using errcode = 'check_violation';
  end if;
  return new;
end $$;

create or replace function refuse_unequal_invoice() returns trigger language plpgsql as $$
begin
  if new.total <> new.carried_in + (select coalesce(sum(amount), 0) from invoice_line where invoice_id = new.id) then
    raise exception 'the lines of invoice % do not add up to its total', new.id using errcode = 'check_violation';
  end if;
  return null;
end $$;
