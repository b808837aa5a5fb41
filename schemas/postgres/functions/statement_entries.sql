-- The entries of an account behind `after_seq` up to `up_to_seq`, each with the line of a statement that it belongs to. Entries that settle
-- statements are on none. What a partner earns is positive here. A conversion that is taken back is a `clawback` if an earlier statement has
-- it, else a `reversal`. Statements before the newest are never void, so an entry stays on its line for ever.
create or replace function statement_entries(of_account bigint, after_seq bigint, up_to_seq bigint)
returns table (seq bigint, posted_at timestamptz, line_kind text, offer_id integer, event_code text, of_statement_id bigint, count bigint,
  amount numeric, conversion_id uuid, transaction_id bigint) language sql stable as $$
  select e.seq, e.posted_at,
    case e.kind
      when 'conversion' then case when e.amount < 0 then 'conversions' when earlier.id is null then 'reversal' else 'clawback' end
      when 'clicks' then 'clicks'
      when 'write_off' then 'write_off'
      else coalesce(a.kind, 'correction')
    end,
    e.offer_id, e.event_code, earlier.id, e.count, -e.amount, e.conversion_id, e.transaction_id
  from ledger_entry e
  left join ledger_transaction t on t.id = e.transaction_id and e.kind = 'adjustment' and t.source_kind = 'adjustment'
  left join adjustment a on a.id = case when t.source_id ~ '^[0-9]{1,18}$' then t.source_id::bigint end
  left join lateral (
    select s.id
    from ledger_entry p
    join statement s on s.account_id = p.account_id and s.status <> 'void' and s.to_seq >= p.seq and s.from_seq < p.seq
    where e.kind = 'conversion' and e.amount > 0 and p.conversion_id = e.conversion_id and p.account_id = e.account_id
      and p.seq <= statement_entries.after_seq and p.amount < 0
    order by p.seq desc, s.id limit 1) earlier on true
  where e.account_id = of_account and e.seq > statement_entries.after_seq and e.seq <= up_to_seq
    and e.kind not in ('statement_tax', 'payout', 'payout_return')
$$;
