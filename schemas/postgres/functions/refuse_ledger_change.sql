-- A trigger: what was posted stays as it was posted (N37).
create or replace function refuse_ledger_change() returns trigger language plpgsql as $$
begin
  raise exception '% of % is refused: a record of money is corrected by a further record', tg_op, tg_table_name
    using errcode = 'insufficient_privilege';
end $$;
