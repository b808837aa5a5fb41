-- Starts of ingress processes that have not said that they ended. While one of them is silent, clicks answered after its last
-- word may lie in its journal, and are not called unknown (G162). Who knows that a host is lost with its disk removes its rows.
create table click_producer (
  lane integer not null,
  producer integer not null,
  epoch bigint not null,
  -- UTC milliseconds: every click answered before is known.
  said_ms bigint not null,
  primary key (lane, producer, epoch)
);
