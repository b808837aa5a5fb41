-- Every change of a record of the catalog gets the next version.
create or replace function stamp_catalog_row() returns trigger language plpgsql as $$
begin
  new.version := next_catalog_version();
  return new;
end $$;
