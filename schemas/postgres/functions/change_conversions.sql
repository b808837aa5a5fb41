-- Stores changes of conversions of one workspace with all that follows from them. The caller has locked the conversions, each of which is in `changes`
-- once.
create or replace function change_conversions(changes conversion_change[], actor text, key_id integer, cause jsonb) returns void language plpgsql as $$
begin
  if cardinality(changes) = 0 then
    return;
  end if;
  update conversion t
  set status = (c.after).status, status_reason = (c.after).status_reason, revenue = (c.after).revenue, payout = (c.after).payout,
      sale_amount = (c.after).sale_amount, payout_given = (c.after).payout_given, revenue_given = (c.after).revenue_given,
      notes = (c.after).notes, hold_until = (c.after).hold_until, cap_alert = (c.after).cap_alert,
      change_fingerprint = (c.after).change_fingerprint, asked_status = (c.after).asked_status, version = (c.after).version,
      updated_at = (c.after).updated_at
  from unnest(changes) as c(before, after)
  where t.id = (c.after).id;
  perform after_conversion_changes(changes, actor, key_id, cause);
end $$;
