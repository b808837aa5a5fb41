-- reads: 0040
-- no transaction
-- There are 65,535 producer numbers, and each new journal folder takes one. A number may be given out again once it is proven that nothing
-- of its earlier holder is left anywhere (schemas/installation/free-producers.ts).
alter table ingress_producer
  -- Since when the holder is at work nowhere: it has ended, or was given up. Null while it may be.
  add column if not exists quiet_since timestamptz(3),
  -- When it was proven that the number may be given out again. Counts only with `quiet_since`.
  add column if not exists free_at timestamptz(3),
  -- The highest epoch that any holder used; those of the next holder begin above it. Stays when the number is given out.
  add column if not exists free_above bigint;

-- The oldest free number, and look-ups of a number without its lane.
drop index concurrently if exists ingress_producer_free;
create index concurrently ingress_producer_free on ingress_producer (free_at, id) where free_at is not null;
drop index concurrently if exists click_producer_number;
create index concurrently click_producer_number on click_producer (producer);
drop index concurrently if exists coupon_click_producer;
create index concurrently coupon_click_producer on coupon_click (producer);

-- Whether the holder of a number is at work nowhere: it ended cleanly or was given up, no click writer waits for it, and it has no right to
-- record a coupon's click. False for a number that no process has registered: its folder may wait for its first start, or the number is
-- that of an epoch that was moved to it.
create or replace function is_producer_quiet(one ingress_producer) returns boolean language sql stable
  return one.run is not null
    and (one.run_at is null or (one.given_up_at is not null and one.run_at < one.given_up_at))
    and not exists (select from click_producer c where c.producer = one.id)
    and not exists (select from coupon_click c where c.producer = one.id);
