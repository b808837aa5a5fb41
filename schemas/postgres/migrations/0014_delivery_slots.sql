-- The queue is read by endpoint: slots are by endpoint first, then by host and port (G204).

create index delivery_queue on delivery (destination, kind, endpoint_id, due_at) where due_at is not null;
drop index delivery_due;
