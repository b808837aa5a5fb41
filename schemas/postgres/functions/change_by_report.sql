-- Applies the change that a later report asks for (see change_conversion). A rejected conversion that becomes approved or pending
-- counts in the caps of this moment, unless it counted before: a rejection gives no place back, so it still has its own. Over a cap
-- it stays rejected as `cap_exceeded`. The row is locked before the counters, and nobody who holds counters waits for a row (P17).
--
-- `caps` is [{cap, period, limit, add, alert}]. Answers {outcome: 'stale'} when the row is no longer at `from_version`: decide
-- again; else {outcome: 'applied' or 'capped', status, status_reason} with the row's state. A report that a cap stopped leaves no
-- fingerprint: it may be sent again when there is room.
create or replace function change_by_report(of_conversion uuid, from_version integer, change jsonb, caps jsonb, timezone text)
returns jsonb language plpgsql as $$
declare
  before conversion := (select t from conversion t where t.id = of_conversion for update);
  at timestamptz := clock_timestamp();
  verdict text := 'free';
begin
  if before.version is distinct from from_version then
    return jsonb_build_object('outcome', 'stale');
  end if;
  if before.status = 'rejected' and change ->> 'status' <> 'rejected' and caps <> '[]' and not exists (
       -- What staff approve passes the caps and is not counted.
       select from conversion_history h
       where h.conversion_id = of_conversion and h.to_status <> 'rejected' and (h.actor <> 'api' or h.from_status is null)) then
    perform lock_caps(jsonb_build_array(jsonb_build_object('row', jsonb_build_object('conv_ts', at),
      'plan', jsonb_build_object('caps', caps, 'timezone', timezone))));
    verdict := check_caps(at, caps, timezone);
    if verdict = 'exceeded' then
      change := change - '{change_fingerprint,asked_status}'::text[]
        || jsonb_build_object('status', 'rejected', 'status_reason', 'cap_exceeded');
    else
      perform count_caps(at, caps, timezone);
      if verdict = 'alert' then
        change := change || jsonb_build_object('cap_alert', true);
      end if;
    end if;
  end if;
  if verdict <> 'exceeded' or (before.status_reason, before.revenue, before.payout, before.sale_amount) is distinct from
       ('cap_exceeded', (change ->> 'revenue')::numeric, (change ->> 'payout')::numeric, (change ->> 'sale_amount')::numeric) then
    perform change_conversion(of_conversion, from_version, change, 'postback', null);
  end if;
  return jsonb_build_object('outcome', case verdict when 'exceeded' then 'capped' else 'applied' end,
    'status', change ->> 'status', 'status_reason', change ->> 'status_reason');
end $$;
