-- reads: 0040
-- An older process beside this schema answers links by alias with `unknown_link`, and refuses tokens that were replaced.

-- Codes of earlier systems, so that old links keep working (N112). Asked only when neither a code nor an id is found.
create table code_alias (
  id integer primary key generated always as identity,
  workspace_id integer not null references workspace,
  kind text not null generated always as
    (case when offer_id is not null then 'offer' when affiliate_id is not null then 'affiliate' else 'smart_link' end) stored,
  alias text not null check (alias ~ '^[A-Za-z0-9._~-]{1,64}$'),
  offer_id integer references offer,
  affiliate_id integer references affiliate,
  smart_link_id integer references smart_link,
  target_id integer not null generated always as (coalesce(offer_id, affiliate_id, smart_link_id)) stored,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  version bigint not null default 0,
  check (num_nonnulls(offer_id, affiliate_id, smart_link_id) = 1)
);
create unique index code_alias_alias on code_alias (workspace_id, kind, lower(alias));
create index code_alias_list on code_alias (workspace_id, created_at desc, id desc);
create index code_alias_target on code_alias (target_id, created_at desc, id desc);
create index code_alias_version on code_alias (version);
create trigger ids_are_verified before insert on code_alias for each statement execute function refuse_unverified_ids();
create trigger stamp before insert or update on code_alias for each row execute function stamp_catalog_row();
create trigger bury after delete on code_alias for each row execute function bury_catalog_row('code_alias');

-- Tokens that an advertiser replaced and that stay good for a while.
create table advertiser_old_token (
  id integer primary key generated always as identity,
  advertiser_id integer not null references advertiser,
  token text not null,
  good_until timestamptz(3) not null,
  version bigint not null default 0
);
create trigger ids_are_verified before insert on advertiser_old_token for each statement execute function refuse_unverified_ids();
create index advertiser_old_token_owner on advertiser_old_token (advertiser_id);
create index advertiser_old_token_version on advertiser_old_token (version);
create trigger stamp before insert or update on advertiser_old_token for each row execute function stamp_catalog_row();
create trigger bury after delete on advertiser_old_token for each row execute function bury_catalog_row('advertiser_old_token');

alter table workspace add column advertiser_may_rotate boolean not null default true;

create or replace view catalog_entry as
  select kind, id, version, record from catalog_entry_of_installation
  union all
  select 'workspace_blocklist_entry', id::text, version,
         jsonb_build_object('id', id, 'workspace_id', workspace_id, 'entry', entry)
    from workspace_blocklist_entry
  union all
  select 'code_alias', id::text, version,
         jsonb_build_object('id', id, 'workspace_id', workspace_id, 'kind', kind, 'alias', alias, 'target_id', target_id)
    from code_alias
  union all
  select 'advertiser_old_token', id::text, version,
         jsonb_build_object('id', id, 'advertiser_id', advertiser_id, 'token', token,
           'good_until_ms', (extract(epoch from good_until) * 1000)::bigint)
    from advertiser_old_token;

-- What a call was about, as far as it is known. Null in rows of releases before this column, and in rows that many calls share.
alter table postback_log
  add column advertiser_id integer,
  add column offer_id integer,
  add column event_id integer;
-- Builds nothing: partitions that are made later get it. Rows before it have no advertiser, so older partitions do without.
create index postback_log_advertiser on only postback_log (advertiser_id, ts desc, id desc)
  include (offer_id, event_id, result) where advertiser_id is not null;
do $$
declare
  part regclass;
  is_used boolean;
begin
  for part in select i.inhrelid::regclass from pg_inherits i where i.inhparent = 'postback_log'::regclass loop
    execute format('select exists (select from %s)', part) into is_used;
    continue when is_used;
    execute format('create index %I on %s (advertiser_id, ts desc, id desc) include (offer_id, event_id, result)
      where advertiser_id is not null', part::text || '_advertiser', part);
    execute format('alter index postback_log_advertiser attach partition %I', part::text || '_advertiser');
  end loop;
end $$;

-- Moves every column of a row, also the request ID and the columns above.
create or replace function make_postback_log_days(ahead integer) returns integer language plpgsql as $$
declare
  day date;
  name text;
  first_day date := (now() at time zone 'UTC')::date;
  begins text;
  ends text;
  columns text := 'id, workspace_id, ts, endpoint, ip, token_owner, params, http_status, result, click_id, conversion_id, message,
    request_id, advertiser_id, offer_id, event_id';
  made integer := 0;
begin
  perform pg_advisory_xact_lock(7265011);
  for day in select first_day + n from generate_series(0, ahead) n loop
    name := 'postback_log_' || to_char(day, 'YYYYMMDD');
    begins := day || ' 00:00:00+00';
    ends := (day + 1) || ' 00:00:00+00';
    continue when to_regclass(name) is not null
      or begins::timestamptz < end_of_partition(to_regclass('postback_log_before'));
    execute format('create table %I (like postback_log including defaults including constraints including indexes)', name);
    execute format('with moved as (delete from postback_log_other where ts >= %L and ts < %L returning %s)
      insert into %I (%s) select %s from moved', begins, ends, columns, name, columns, columns);
    execute format('alter table postback_log attach partition %I for values from (%L) to (%L)', name, begins, ends);
    made := made + 1;
  end loop;
  return made;
end $$;
