-- A trigger: new terms take effect with the next period, so the terms before the change are kept with its time (N47).
create or replace function keep_payment_terms() returns trigger language plpgsql as $$
begin
  insert into payment_terms_change (affiliate_id, at, terms_before) values (new.id, clock_timestamp(), old.payment_terms);
  return null;
end $$;
