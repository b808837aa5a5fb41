-- Queues what was recorded before everybody saw that billing was switched on (N36, N39): the next `rows_max` rows of the history, those of
-- conversions created since `starts_on`. Answers whether there may be more to do at once. A row that is queued twice is posted once.
--
-- A transaction that began before the switch may record a conversion without queueing it, and commit later. So the first call only notes the
-- next number of a transaction; when every transaction with a smaller number has ended, their rows are visible, and all others queue their own.
create or replace function backfill_ledger(of_workspace integer, rows_max integer) returns boolean language plpgsql as $$
declare
  s record;
  page record;
begin
  select b.enabled, b.enabled_xid, b.backfill_xid, coalesce(b.backfilled_to, 0) as backfilled_to,
    b.starts_on::timestamp at time zone w.timezone as starts
  into s
  from billing_settings b join workspace w on w.id = b.workspace_id
  where b.workspace_id = of_workspace and b.enabled for update of b skip locked;
  if not found then
    return false;
  end if;
  -- Also after billing was switched off and on again.
  if s.backfill_xid is null or s.backfill_xid <= s.enabled_xid then
    update billing_settings b
    set backfill_xid = pg_snapshot_xmax(pg_current_snapshot()), backfilled_to = null
    where b.workspace_id = of_workspace;
    return true;
  end if;
  if s.backfilled_to = 9223372036854775807 or pg_snapshot_xmin(pg_current_snapshot()) < s.backfill_xid then
    return false;
  end if;
  select count(*) as rows, max(id) as last into page
  from (select h.id from conversion_history h where h.id > s.backfilled_to order by h.id limit rows_max) h;
  insert into ledger_outbox (workspace_id, history_id)
  select of_workspace, h.id
  from conversion_history h join conversion c on c.id = h.conversion_id
  where h.id > s.backfilled_to and h.id <= page.last and c.workspace_id = of_workspace and c.created_at >= s.starts
    and 'approved' in (h.from_status, h.to_status)
    and not exists (select from ledger_transaction t
      where t.workspace_id = of_workspace and t.source_kind = 'conversion' and t.source_id = h.id::text)
  on conflict do nothing;
  update billing_settings b
  set backfilled_to = case when page.rows < rows_max then 9223372036854775807 else page.last end
  where b.workspace_id = of_workspace;
  return page.rows = rows_max;
end $$;
