-- reads: 0040
-- no transaction
-- An order number is one conversion of an event, where the offer says so.
drop index concurrently if exists conversion_event_txid;
create unique index concurrently conversion_event_txid on conversion (offer_id, adv_txid, event_code) where holds_event_txid;
