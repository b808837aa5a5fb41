-- Whether links of both workspaces stand on one tracking host.
create or replace function share_a_host(one integer, another integer) returns boolean language sql stable as $$
  select exists (
    select from tracking_domain a
    join tracking_domain b on coalesce(b.shared_from, b.id) = coalesce(a.shared_from, a.id)
    where a.workspace_id = one and b.workspace_id = another)
$$;
