-- A trigger: the entries that a statement of SQL adds to a transaction of the ledger sum to 0 in each currency (N37, I1). So do all of them:
-- what earlier statements added was checked likewise. One entry alone is never 0, so there are at least two. Only what is added is read:
-- the cost of posting does not grow with the ledger.
create or replace function refuse_unbalanced_entries() returns trigger language plpgsql as $$
declare
  wrong bigint := (
    select e.transaction_id
    from added e left join ledger_account a on a.id = e.account_id
    group by e.transaction_id, a.currency
    having sum(e.amount) <> 0
    limit 1);
begin
  if wrong is not null then
    raise exception 'the entries of transaction % do not sum to 0 in each currency', wrong using errcode = 'check_violation';
  end if;
  return null;
end $$;
