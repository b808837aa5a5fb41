-- Brings a conversion from `version` to the state in `change` {status, status_reason, revenue, payout, sale_amount,
-- payout_given, revenue_given}, which may also bring cap_alert, change_fingerprint and asked_status. False when it is no longer at that
-- version: somebody else changed it, decide again.
create or replace function change_conversion(conversion_id uuid, from_version integer, change jsonb, actor text, key_id integer)
returns boolean language plpgsql as $$
declare
  before conversion := (select t from conversion t where t.id = conversion_id for update);
begin
  if before.version is distinct from from_version then
    return false;
  end if;
  perform change_conversions(array[row(before, changed_conversion(before, change, actor))::conversion_change], actor, key_id, change -> 'cause');
  return true;
end $$;
