-- Posts entries to the ledger of one workspace and answers the sources of those transactions that were not posted before. Safe to call twice,
-- and from any number of sessions: `source_kind` and `source_id` name a fact once, and of a fact that is given twice the first is posted.
-- One call in a transaction of the database, because a call locks all its accounts in one order.
--
-- Planned for each call: a plan for few entries, kept for many, would compare each entry with each.
create or replace function post_entries(of_workspace integer, postings ledger_posting[])
returns table (source_kind text, source_id text, transaction_id bigint) language plpgsql set plan_cache_mode = force_custom_plan as $$
#variable_conflict use_column
declare
  wanted ledger_standing[] := array(
    select (null, p.account, p.owner_id, p.currency, null, null)::ledger_standing
    from unnest(postings) p group by p.account, p.owner_id, p.currency order by p.account, p.owner_id, p.currency);
  standing ledger_standing[];
  done ledger_posted[];
  at timestamptz(3);
begin
  if exists (
    select from unnest(wanted) w where not exists (
      select from ledger_account a join ledger_balance b on b.account_id = a.id
      where a.workspace_id = of_workspace and a.kind = w.account and a.owner_id = w.owner_id and a.currency = w.currency))
  then
    -- In one order, so that two sessions that need the same new accounts wait for each other one way only.
    insert into ledger_account (workspace_id, kind, owner_id, currency)
    select of_workspace, w.account, w.owner_id, w.currency from unnest(wanted) w
    where not exists (select from ledger_account a
      where a.workspace_id = of_workspace and a.kind = w.account and a.owner_id = w.owner_id and a.currency = w.currency)
    order by w.account, w.owner_id, w.currency
    on conflict do nothing;

    insert into ledger_balance (account_id)
    select a.id
    from unnest(wanted) w
    join ledger_account a on a.workspace_id = of_workspace and a.kind = w.account and a.owner_id = w.owner_id and a.currency = w.currency
    where not exists (select from ledger_balance b where b.account_id = a.id)
    order by a.id
    on conflict do nothing;
  end if;

  standing := array(
    select (a.id, a.kind, a.owner_id, a.currency, b.last_seq, b.last_posted_at)::ledger_standing
    from unnest(wanted) w
    join ledger_account a on a.workspace_id = of_workspace and a.kind = w.account and a.owner_id = w.owner_id and a.currency = w.currency
    join ledger_balance b on b.account_id = a.id
    order by b.account_id for update of b);
  -- The clock is read under the locks, and a clock that went back does not take the entries with it.
  at := (select greatest(ledger_clock(of_workspace), max(s.last_posted_at)) from unnest(standing) s);

  with given as materialized (
    select distinct on (p.source_kind, p.source_id) p.place, p.kind, p.source_kind, p.source_id, p.description, p.reverses_id, p.key_id,
      p.person_id
    from unnest(postings) p order by p.source_kind, p.source_id, p.place
  ), posted as (
    insert into ledger_transaction (workspace_id, posted_at, kind, source_kind, source_id, description, reverses_id, key_id, person_id)
    select of_workspace, at, g.kind, g.source_kind, g.source_id, coalesce(g.description, ''), g.reverses_id, g.key_id, g.person_id
    from given g order by g.place
    on conflict do nothing
    returning id, source_kind, source_id
  )
  select array_agg((t.id, g.place, g.kind, g.source_kind, g.source_id)::ledger_posted order by g.place) into done
  from posted t join given g on g.source_kind = t.source_kind and g.source_id = t.source_id;

  with entries as (
    insert into ledger_entry (account_id, seq, transaction_id, amount, posted_at, kind, conversion_id, offer_id, event_code, count)
    select s.account_id, s.last_seq + row_number() over (partition by s.account_id order by p.line), d.transaction_id, p.amount, at, d.kind,
      p.conversion_id, p.offer_id, p.event_code, coalesce(p.count, 0)
    from unnest(postings) with ordinality as p(place, kind, source_kind, source_id, description, reverses_id, key_id, person_id, account,
      owner_id, currency, amount, conversion_id, offer_id, event_code, count, line)
    join unnest(done) d on d.place = p.place
    join unnest(standing) s on s.account = p.account and s.owner_id = p.owner_id and s.currency = p.currency
    returning account_id, amount
  )
  update ledger_balance b
  set balance = b.balance + s.amount, last_seq = b.last_seq + s.entries, last_posted_at = at
  from (select account_id, sum(amount) as amount, count(*) as entries from entries group by account_id) s
  where b.account_id = s.account_id;

  return query select d.source_kind, d.source_id, d.transaction_id from unnest(done) d;
end $$;
