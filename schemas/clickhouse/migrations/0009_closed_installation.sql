-- The last process of the installation has ended in an orderly way: Postgres gave no id after this beat.
alter table installation_mark add column if not exists is_closed Bool default false;
