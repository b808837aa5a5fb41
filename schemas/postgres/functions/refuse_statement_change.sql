-- A trigger: what a statement says never changes. Only its status, its number and what approval adds do (N49).
create or replace function refuse_statement_change() returns trigger language plpgsql as $$
declare
  free constant text[] := array['status', 'number', 'parties', 'approved_at', 'approved_key_id', 'approved_person_id', 'paid_at', 'voided_at'];
begin
  if to_jsonb(old) - free <> to_jsonb(new) - free
    or old.number is distinct from new.number and old.number is not null
    or old.parties is distinct from new.parties and old.parties is not null
    or old.status <> new.status and (old.status || ' ' || new.status) not in ('draft approved', 'draft void', 'carried void',
      'approved in_payout', 'approved paid', 'in_payout approved', 'in_payout paid', 'paid approved')
  then
    raise exception 'statement % is changed by a further statement only', old.id using errcode = 'check_violation';
  end if;
  if old.status <> new.status and new.status = 'void' and exists (
    select from statement s where s.account_id = new.account_id and s.status <> 'void' and s.id <> new.id
      and (s.to_seq, s.period_to) > (new.to_seq, new.period_to))
  then
    raise exception 'statement % is not the newest of its account', old.id using errcode = 'check_violation';
  end if;
  return new;
end $$;
