-- Whether an event is still used. Most conversions are of the default event, which cannot be deleted and is not in this index.
create index conversion_of_event on conversion (offer_id, event_code) where event_code <> 'default';
