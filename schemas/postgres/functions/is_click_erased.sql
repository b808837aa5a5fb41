-- An erasure by click holds for the clicks of its own workspace only: anybody may name the click of another one.
create or replace function is_click_erased(of_click text, of_workspace integer) returns boolean language sql stable as $$
  select exists (select from erased_click k join erasure e on e.id = k.erasure_id
    where k.click_id = of_click and e.workspace_id = of_workspace)
$$;
