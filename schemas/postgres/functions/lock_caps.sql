-- Makes and locks every counter of a batch, in one order. Missing ones are made first and only then are all of them locked: no
-- two transactions can wait for each other (P17).
create or replace function lock_caps(batch jsonb) returns void language plpgsql as $$
declare
  wanted text[];
  starts timestamptz[];
begin
  select array_agg(w.cap), array_agg(w.bucket_start) into wanted, starts
  from (select distinct k.cap, k.bucket_start
        from jsonb_array_elements(batch) as i(item),
             cap_counts((i.item #>> '{row,conv_ts}')::timestamptz, i.item #> '{plan,caps}', i.item #>> '{plan,timezone}') k
       ) w;
  if wanted is null then
    return;
  end if;
  insert into cap_counter (cap, bucket_start)
  select w.cap, w.bucket_start from unnest(wanted, starts) as w(cap, bucket_start)
  where not exists (select from cap_counter c where c.cap = w.cap and c.bucket_start = w.bucket_start)
  order by w.cap, w.bucket_start
  on conflict do nothing;
  perform from cap_counter c
  where (c.cap, c.bucket_start) in (select w.cap, w.bucket_start from unnest(wanted, starts) as w(cap, bucket_start))
  order by c.cap, c.bucket_start
  for update;
end $$;
