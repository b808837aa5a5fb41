-- `post_entries` for transactions as JSON: [{source_kind, source_id, kind, description, reverses_id, key_id, person_id, entries: [{account,
-- owner_id, currency, amount, conversion_id, offer_id, event_code, count}]}]. `account` is the kind of the account. Amounts are text: a JSON
-- number would become a float. Debits are positive.
create or replace function post_ledger(of_workspace integer, transactions jsonb)
returns table (source_kind text, source_id text, transaction_id bigint) language plpgsql as $$
declare
  empty text := (select t ->> 'source_id' from jsonb_array_elements(transactions) t where t -> 'entries' = '[]' limit 1);
begin
  if empty is not null then
    raise exception 'transaction % has no entries', empty using errcode = 'check_violation';
  end if;
  return query
  select p.source_kind, p.source_id, p.transaction_id
  from post_entries(of_workspace, array(
    select (g.place, t.kind, t.source_kind, t.source_id, t.description, t.reverses_id, t.key_id, t.person_id, e.account, e.owner_id, e.currency,
      e.amount, e.conversion_id, e.offer_id, e.event_code, e.count)::ledger_posting
    from jsonb_array_elements(transactions) with ordinality as g(item, place)
    cross join lateral jsonb_to_record(g.item) as t(kind text, source_kind text, source_id text, description text, reverses_id bigint,
      key_id integer, person_id integer)
    cross join lateral jsonb_array_elements(g.item -> 'entries') with ordinality as l(item, line)
    cross join lateral jsonb_to_record(l.item) as e(account text, owner_id integer, currency text, amount numeric(18, 4),
      conversion_id uuid, offer_id integer, event_code text, count bigint)
    order by g.place, l.line)) p;
end $$;
