-- Unsafe targets and reference rates of a single workspace, over those of the installation, which `blocklist_entry` and `fx_rate`
-- hold: what was there before is the installation's (G201).

create table workspace_blocklist_entry (
  id integer primary key generated always as identity,
  workspace_id integer not null references workspace,
  entry text not null,
  version bigint not null default 0,
  unique (workspace_id, entry)
);
create trigger stamp before insert or update on workspace_blocklist_entry for each row execute function stamp_catalog_row();
create trigger bury after delete on workspace_blocklist_entry
  for each row execute function bury_catalog_row('workspace_blocklist_entry');
create index workspace_blocklist_entry_version on workspace_blocklist_entry (version);

alter view catalog_entry rename to catalog_entry_of_installation;
create view catalog_entry as
  select kind, id, version, record from catalog_entry_of_installation
  union all
  select 'workspace_blocklist_entry', id::text, version,
         jsonb_build_object('id', id, 'workspace_id', workspace_id, 'entry', entry)
    from workspace_blocklist_entry;

create table workspace_fx_rate (
  workspace_id integer not null references workspace,
  currency text not null,
  date date not null,
  -- Units of the currency per EUR.
  rate numeric(24, 10) not null check (rate > 0),
  updated_at timestamptz(3) not null default now(),
  primary key (workspace_id, currency, date)
);
create index workspace_fx_rate_list on workspace_fx_rate (workspace_id, date desc, currency desc);
