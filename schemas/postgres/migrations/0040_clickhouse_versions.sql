-- reads: 0039
-- The newest migration of ClickHouse that the code of the process knows. Null in rows of releases before this column.
alter table system_process add column clickhouse_version integer;
