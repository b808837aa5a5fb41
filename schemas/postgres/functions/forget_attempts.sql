-- Attempts go with their deliveries, whoever deletes those.
create or replace function forget_attempts() returns trigger language plpgsql as $$
begin
  delete from delivery_attempt a using gone g where a.delivery_id = g.id;
  return null;
end $$;
