-- Records what came of an attempt, for the worker that still holds the lease; 'stale' for any other, which changes nothing.
-- `result` is {status, url, error, response_status, response_body, retry_in_ms, is_sent, is_endpoints_fault}. 'disabled' says
-- that the endpoint is disabled from now on, 'due' that what was to be held back is to be sent after all; else 'settled'.
--
-- A request that was made before an erasure of the last minute, longer than a lease, keeps neither its URL nor its answer: both may have
-- what was erased.
create or replace function settle_delivery(of_id uuid, token uuid, result jsonb) returns text language plpgsql as $$
declare
  held delivery := (select d from delivery d where d.id = of_id and d.lease_token = token for update);
  is_final boolean := result ->> 'status' <> 'retrying';
  erased text[];
begin
  if held.id is null then
    return 'stale';
  end if;
  if result ->> 'error' = 'conversion rejected' and exists (
       select from conversion c where c.id = held.conversion_id and c.status <> 'rejected' and not c.is_duplicate) then
    update delivery d set due_at = clock_timestamp(), lease_token = null, attempts = d.attempts - 1 where d.id = of_id;
    return 'due';
  end if;
  if exists (select from conversion c join erased_click k on k.click_id = c.click_id
         join erasure e on e.id = k.erasure_id and e.workspace_id = c.workspace_id
       where c.id = held.conversion_id and k.added_at > clock_timestamp() - interval '1 minute') then
    result := result || '{"url": "", "response_body": ""}';
  end if;
  erased := erased_addresses(held.workspace_id, clock_timestamp() - interval '1 minute');
  if has_hashed_address(result ->> 'url' || ' ' || (result ->> 'response_body'), erased) then
    result := result || '{"url": "", "response_body": ""}';
  end if;
  update delivery d
  set status = result ->> 'status',
      url = result ->> 'url',
      error = result ->> 'error',
      response_status = (result ->> 'response_status')::integer,
      response_body = result ->> 'response_body',
      attempts = d.attempts - case when (result ->> 'is_sent')::boolean then 0 else 1 end,
      due_at = case when is_final then null
        else clock_timestamp() + (result ->> 'retry_in_ms')::bigint * interval '1 millisecond' end,
      finished_at = case when is_final then clock_timestamp() end,
      lease_token = null
  where d.id = of_id;
  if is_final and (result ->> 'status' = 'delivered' or (result ->> 'is_endpoints_fault')::boolean)
     and count_endpoint_outcome(held.kind, held.endpoint_id, result ->> 'status' = 'delivered', result ->> 'error') then
    return 'disabled';
  end if;
  return 'settled';
end $$;
