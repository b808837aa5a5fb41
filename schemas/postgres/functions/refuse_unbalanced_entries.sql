-- A trigger: each transaction of the ledger that a statement of SQL adds entries to has at least two, and they sum to 0 in each currency
-- (N37, I1).
create or replace function refuse_unbalanced_entries() returns trigger language plpgsql as $$
declare
  wrong bigint := (
    select e.transaction_id
    from ledger_entry e join ledger_account a on a.id = e.account_id
    where e.transaction_id in (select transaction_id from added)
    group by e.transaction_id, a.currency
    having sum(e.amount) <> 0 or count(*) < 2
    limit 1);
begin
  if wrong is not null then
    raise exception 'the entries of transaction % do not sum to 0 in each currency', wrong using errcode = 'check_violation';
  end if;
  return null;
end $$;
