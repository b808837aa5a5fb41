-- Posts transactions of one workspace and answers the sources of those that were not posted before. Safe to call twice, and from any number of
-- sessions: `source_kind` and `source_id` name a fact once. One call in a transaction of the database, because a call locks all its
-- accounts in one order.
--
-- `transactions`: [{source_kind, source_id, kind, description, reverses_id, key_id, person_id, entries: [{account, owner_id, currency,
-- amount, conversion_id, offer_id, event_code, count}]}]. `account` is the kind of the account. Amounts are text: a JSON number would become
-- a float. Debits are positive.
create or replace function post_ledger(of_workspace integer, transactions jsonb)
returns table (source_kind text, source_id text, transaction_id bigint) language plpgsql as $$
#variable_conflict use_column
declare
  at timestamptz(3);
begin
  -- In one order, so that two sessions that need the same new accounts wait for each other one way only.
  insert into ledger_account (workspace_id, kind, owner_id, currency)
  select of_workspace, e.account, e.owner_id, e.currency
  from jsonb_array_elements(transactions) t
  cross join lateral jsonb_to_recordset(t -> 'entries') as e(account text, owner_id integer, currency text)
  where not exists (select from ledger_account a
    where a.workspace_id = of_workspace and a.kind = e.account and a.owner_id = e.owner_id and a.currency = e.currency)
  group by e.account, e.owner_id, e.currency
  order by e.account, e.owner_id, e.currency
  on conflict do nothing;

  insert into ledger_balance (account_id)
  select a.id
  from (select distinct e.account, e.owner_id, e.currency
    from jsonb_array_elements(transactions) t
    cross join lateral jsonb_to_recordset(t -> 'entries') as e(account text, owner_id integer, currency text)) e
  join ledger_account a on a.workspace_id = of_workspace and a.kind = e.account and a.owner_id = e.owner_id and a.currency = e.currency
  where not exists (select from ledger_balance b where b.account_id = a.id)
  order by a.id
  on conflict do nothing;

  perform from ledger_balance b
  where b.account_id in (
    select a.id
    from jsonb_array_elements(transactions) t
    cross join lateral jsonb_to_recordset(t -> 'entries') as e(account text, owner_id integer, currency text)
    join ledger_account a on a.workspace_id = of_workspace and a.kind = e.account and a.owner_id = e.owner_id and a.currency = e.currency)
  order by b.account_id for update;

  -- The clock is read under the locks, and a clock that went back does not take the entries with it.
  at := (
    select greatest(clock_timestamp(), max(b.last_posted_at))
    from ledger_balance b
    where b.account_id in (
      select a.id
      from jsonb_array_elements(transactions) t
      cross join lateral jsonb_to_recordset(t -> 'entries') as e(account text, owner_id integer, currency text)
      join ledger_account a on a.workspace_id = of_workspace and a.kind = e.account and a.owner_id = e.owner_id
        and a.currency = e.currency));

  return query
  with given as (
    select distinct on (t ->> 'source_kind', t ->> 'source_id') t as item, g.place
    from jsonb_array_elements(transactions) with ordinality as g(t, place)
    order by t ->> 'source_kind', t ->> 'source_id', g.place
  ), posted as (
    insert into ledger_transaction (workspace_id, posted_at, kind, source_kind, source_id, description, reverses_id, key_id, person_id)
    select of_workspace, at, item ->> 'kind', item ->> 'source_kind', item ->> 'source_id', coalesce(item ->> 'description', ''),
      (item ->> 'reverses_id')::bigint, (item ->> 'key_id')::integer, (item ->> 'person_id')::integer
    from given order by place
    on conflict do nothing
    returning id, kind, source_kind, source_id
  ), added as (
    select p.id, p.kind, given.place, l.line, a.id as account_id, e.amount, e.conversion_id, e.offer_id, e.event_code, e.count
    from posted p
    join given on given.item ->> 'source_kind' = p.source_kind and given.item ->> 'source_id' = p.source_id
    cross join lateral jsonb_array_elements(given.item -> 'entries') with ordinality as l(entry, line)
    cross join lateral jsonb_to_record(l.entry) as e(account text, owner_id integer, currency text, amount numeric(18, 4),
      conversion_id uuid, offer_id integer, event_code text, count bigint)
    join ledger_account a on a.workspace_id = of_workspace and a.kind = e.account and a.owner_id = e.owner_id and a.currency = e.currency
  ), entries as (
    insert into ledger_entry (account_id, seq, transaction_id, amount, posted_at, kind, conversion_id, offer_id, event_code, count)
    select n.account_id, b.last_seq + row_number() over (partition by n.account_id order by n.place, n.line), n.id, n.amount, at,
      n.kind, n.conversion_id, n.offer_id, n.event_code, coalesce(n.count, 0)
    from added n join ledger_balance b on b.account_id = n.account_id
    returning account_id, amount
  ), moved as (
    update ledger_balance b
    set balance = b.balance + s.amount, last_seq = b.last_seq + s.entries, last_posted_at = at
    from (select account_id, sum(amount) as amount, count(*) as entries from entries group by account_id) s
    where b.account_id = s.account_id
    returning b.account_id
  )
  select p.source_kind, p.source_id, p.id from posted p cross join (select count(*) from moved) m;
end $$;
