-- Records what came of an attempt, for the worker that still holds the lease; 'stale' for any other, which changes nothing.
-- `result` is {status, url, error, response_status, response_body, retry_in_ms, is_sent, is_endpoints_fault} and, of a request that was
-- sent, {method, body, duration_ms}. 'disabled' says that the endpoint is disabled from now on, 'due' that what was to be held back is to
-- be sent after all; else 'settled'.
--
-- What was sent is kept as an attempt, the last 50 of a delivery. A delivery that is refused keeps the address and the answer of its last
-- attempt.
--
-- A request that was made before an erasure of the last minute, longer than a lease, keeps neither its URL and body nor its answer: all may
-- have what was erased.
create or replace function settle_delivery(of_id uuid, token uuid, result jsonb) returns text language plpgsql as $$
declare
  held delivery := (select d from delivery d where d.id = of_id and d.lease_token = token for update);
  is_final boolean := result ->> 'status' <> 'retrying';
  is_sent boolean := (result ->> 'is_sent')::boolean;
  of_attempt integer := held.attempts_before + held.attempts;
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
    result := result || '{"url": "", "body": "", "response_body": ""}';
  end if;
  erased := erased_addresses(held.workspace_id, clock_timestamp() - interval '1 minute');
  if has_hashed_address(concat_ws(' ', result ->> 'url', result ->> 'body', result ->> 'response_body'), erased) then
    result := result || '{"url": "", "body": "", "response_body": ""}';
  end if;
  update delivery d
  set status = result ->> 'status',
      url = case when is_sent or result ->> 'url' <> '' then result ->> 'url' else d.url end,
      error = result ->> 'error',
      response_status = case when is_sent then (result ->> 'response_status')::integer else d.response_status end,
      response_body = case when is_sent then result ->> 'response_body' else d.response_body end,
      attempts = d.attempts - case when is_sent then 0 else 1 end,
      due_at = case when is_final then null
        else clock_timestamp() + (result ->> 'retry_in_ms')::bigint * interval '1 millisecond' end,
      finished_at = case when is_final then clock_timestamp() end,
      lease_token = null
  where d.id = of_id;
  if is_sent then
    insert into delivery_attempt (delivery_id, number, sent_at, duration_ms, status, method, url, body, error, response_status, response_body)
    values (of_id, of_attempt, clock_timestamp() - coalesce((result ->> 'duration_ms')::integer, 0) * interval '1 millisecond',
      coalesce((result ->> 'duration_ms')::integer, 0), result ->> 'status', result ->> 'method', left(result ->> 'url', 8192),
      case when held.kind = 'postback' then left(coalesce(result ->> 'body', ''), 8192) end, result ->> 'error',
      (result ->> 'response_status')::integer, result ->> 'response_body');
    if of_attempt > 50 then
      delete from delivery_attempt a where a.delivery_id = of_id and a.number <= of_attempt - 50;
    end if;
  end if;
  if is_final and (result ->> 'status' = 'delivered' or (result ->> 'is_endpoints_fault')::boolean)
     and count_endpoint_outcome(held.kind, held.endpoint_id, result ->> 'status' = 'delivered', result ->> 'error') then
    return 'disabled';
  end if;
  return 'settled';
end $$;
