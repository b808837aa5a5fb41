-- after_conversion_changes of one conversion.
create or replace function after_conversion_change(before conversion, after conversion, actor text, key_id integer, cause jsonb default null)
returns void language plpgsql as $$
begin
  perform after_conversion_changes(array[row(before, after)::conversion_change], actor, key_id, cause);
end $$;
