-- reads: 0040
-- Where `tracker status` and `doctor` ask a process while NATS is away.
alter table system_process add column ops_port integer check (ops_port between 1 and 65535);
