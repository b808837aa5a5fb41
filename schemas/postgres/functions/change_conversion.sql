-- Brings a conversion from `version` to the state in `change` {status, status_reason, revenue, payout, sale_amount,
-- payout_given, revenue_given}, which may also bring cap_alert, change_fingerprint and asked_status. False when it is no longer at that
-- version: somebody else changed it, decide again.
create or replace function change_conversion(conversion_id uuid, from_version integer, change jsonb, actor text, key_id integer)
returns boolean language plpgsql as $$
declare
  before conversion := (select t from conversion t where t.id = conversion_id for update);
  after conversion;
begin
  if before.version is distinct from from_version then
    return false;
  end if;
  after := changed_conversion(before, change, actor);
  update conversion t
  set status = after.status, status_reason = after.status_reason, revenue = after.revenue, payout = after.payout,
      sale_amount = after.sale_amount, payout_given = after.payout_given, revenue_given = after.revenue_given,
      notes = after.notes, hold_until = after.hold_until, cap_alert = after.cap_alert,
      change_fingerprint = after.change_fingerprint, asked_status = after.asked_status, version = after.version,
      updated_at = after.updated_at
  where t.id = conversion_id;
  perform after_conversion_change(before, after, actor, key_id, change -> 'cause');
  return true;
end $$;
