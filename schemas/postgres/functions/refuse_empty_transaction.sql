-- A trigger: no transaction of the ledger is without entries at the end of the transaction of the database (N37).
create or replace function refuse_empty_transaction() returns trigger language plpgsql as $$
begin
  if not exists (select from ledger_entry e where e.transaction_id = new.id) then
    raise exception 'transaction % has no entries', new.id using errcode = 'check_violation';
  end if;
  return null;
end $$;
