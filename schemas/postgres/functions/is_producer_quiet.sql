-- Whether the holder of a number is at work nowhere: it ended cleanly or was given up, no click writer waits for it, and it has no right to
-- record a coupon's click. False for a number that no process has registered: its folder may wait for its first start, or an epoch
-- was moved to the number.
create or replace function is_producer_quiet(one ingress_producer) returns boolean language sql stable
  return one.run is not null
    and (one.run_at is null or (one.given_up_at is not null and one.run_at < one.given_up_at))
    and not exists (select from click_producer c where c.producer = one.id)
    and not exists (select from coupon_click c where c.producer = one.id);
