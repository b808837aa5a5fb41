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
