-- A trigger: the lines of an invoice and what it carried in add up to its total (I7).
create or replace function refuse_unequal_invoice() returns trigger language plpgsql as $$
begin
  if new.total <> new.carried_in + (select coalesce(sum(amount), 0) from invoice_line where invoice_id = new.id) then
    raise exception 'the lines of invoice % do not add up to its total', new.id using errcode = 'check_violation';
  end if;
  return null;
end $$;
