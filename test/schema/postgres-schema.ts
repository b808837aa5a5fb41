import type { Queryable } from "../../schemas/postgres/connect.ts";

/**
 * The schema `public` as statements, for reading: types, sequences, tables with their indexes and triggers, views, functions,
 * each kind ordered by name. It is read from the server's system catalog, because `pg_dump` refuses a server newer than itself
 * and Debian 12 and 13 have none for Postgres 18. It omits owners, grants and comments, because the migrations make none, and the
 * daily partitions.
 *
 * @throws if there is an object of an unknown kind, such as a materialized view.
 */
export async function readPostgresSchema(db: Queryable): Promise<string> {
  const { rows: unknown } = await db.query<{ name: string }>({ text: NOT_SHOWN });
  if (unknown.length > 0) {
    throw new Error(
      `the schema file would leave out ${unknown.map(({ name }) => name).join(", ")}: add the kind to postgres-schema.ts`,
    );
  }
  const sections = [];
  for (const text of SECTIONS) {
    const { rows } = await db.query<{ statement: string }>({ text });
    sections.push(...rows.map(({ statement }) => statement));
  }
  return `${sections.join("\n\n")}\n`;
}

const NOT_SHOWN = `
  select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('m', 'f')
  union all select typname from pg_type where typnamespace = 'public'::regnamespace and typtype in ('d', 'r')
  union all select proname from pg_proc where pronamespace = 'public'::regnamespace and prokind in ('a', 'w')
  union all select stxname from pg_statistic_ext
  union all select polname from pg_policy
  union all select extname from pg_extension where extname <> 'plpgsql'
  union all select rulename from pg_rewrite r join pg_class c on c.oid = r.ev_class
    where c.relnamespace = 'public'::regnamespace and r.rulename <> '_RETURN'
  union all select description from pg_description d where d.objoid >= 16384 and d.classoid in ('pg_class'::regclass, 'pg_proc'::regclass)`;

const TYPES = `
  select format('CREATE TYPE %I AS %s;', t.typname, case t.typtype
    when 'e' then (select format('ENUM (%s)', string_agg(quote_literal(enumlabel), ', ' order by enumsortorder))
                   from pg_enum where enumtypid = t.oid)
    else (select format(E'(\\n%s\\n)', string_agg(format('  %I %s', attname, format_type(atttypid, atttypmod)), E',\\n' order by attnum))
          from pg_attribute where attrelid = t.typrelid and attnum > 0 and not attisdropped) end) as statement
  from pg_type t left join pg_class c on c.oid = t.typrelid
  where t.typnamespace = 'public'::regnamespace and (t.typtype = 'e' or c.relkind = 'c')
  order by t.typname collate "C"`;

/** The options of a sequence or identity column that differ from the default. */
const SEQUENCE_OPTIONS = `
  concat_ws(' ',
    case when seqincrement <> 1 then 'INCREMENT ' || seqincrement end,
    case when seqmin <> 1 then 'MINVALUE ' || seqmin end,
    case when seqmax <> case seqtypid when 'integer'::regtype then 2147483647 when 'smallint'::regtype then 32767
                        else 9223372036854775807 end then 'MAXVALUE ' || seqmax end,
    case when seqstart <> seqmin then 'START ' || seqstart end,
    case when seqcache <> 1 then 'CACHE ' || seqcache end,
    case when seqcycle then 'CYCLE' end)`;

const SEQUENCES = `
  select format('CREATE SEQUENCE %I AS %s%s;', c.relname, format_type(s.seqtypid, null),
    coalesce(' ' || nullif(${SEQUENCE_OPTIONS}, ''), '')) as statement
  from pg_sequence s join pg_class c on c.oid = s.seqrelid
  where c.relnamespace = 'public'::regnamespace
    and not exists (select from pg_depend d where d.objid = c.oid and d.classid = 'pg_class'::regclass and d.deptype = 'i')
  order by c.relname collate "C"`;

const COLUMN = `
  concat_ws(' ', quote_ident(a.attname), format_type(a.atttypid, a.atttypmod),
    (select 'COLLATE ' || quote_ident(l.collname) from pg_collation l, pg_type t
     where l.oid = a.attcollation and t.oid = a.atttypid and a.attcollation <> t.typcollation),
    case when a.attnotnull then 'NOT NULL' end,
    case a.attgenerated when 's' then format('GENERATED ALWAYS AS (%s) STORED', pg_get_expr(d.adbin, d.adrelid, true))
                        when 'v' then format('GENERATED ALWAYS AS (%s)', pg_get_expr(d.adbin, d.adrelid, true))
                        else 'DEFAULT ' || pg_get_expr(d.adbin, d.adrelid, true) end,
    (select format('GENERATED %s AS IDENTITY%s', case a.attidentity when 'a' then 'ALWAYS' else 'BY DEFAULT' end,
       coalesce(' (' || nullif(${SEQUENCE_OPTIONS}, '') || ')', ''))
     from pg_depend o join pg_sequence s on s.seqrelid = o.objid
     where o.refobjid = a.attrelid and o.refobjsubid = a.attnum and o.deptype = 'i' and a.attidentity <> ''))`;

/** NOT NULL is part of the column, so it is not repeated as a constraint. */
const TABLES = `
  select concat_ws(E'\\n',
    format(E'CREATE %sTABLE %I %s%s%s;', case c.relpersistence when 'u' then 'UNLOGGED ' end, c.relname,
      case when c.relispartition then
        (select format('PARTITION OF %s %s', inhparent::regclass, pg_get_expr(c.relpartbound, c.oid))
         from pg_inherits where inhrelid = c.oid)
      else format(E'(\\n%s\\n)', (select string_agg('  ' || line, E',\\n' order by rank, line_order, line collate "C") from (
        select 1 as rank, a.attnum::int as line_order, ${COLUMN} as line
        from pg_attribute a left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
        where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
        union all
        select 2, array_position('{p,u,f,c,x}'::"char"[], k.contype),
          format('CONSTRAINT %I %s', k.conname, pg_get_constraintdef(k.oid, true))
        from pg_constraint k where k.conrelid = c.oid and k.contype in ('p', 'u', 'f', 'c', 'x')) lines)) end,
      case c.relkind when 'p' then ' PARTITION BY ' || pg_get_partkeydef(c.oid) end,
      ' WITH (' || array_to_string(c.reloptions, ', ') || ')'),
    (select string_agg(pg_get_indexdef(i.indexrelid, 0, true) || ';', E'\\n' order by x.relname collate "C")
     from pg_index i join pg_class x on x.oid = i.indexrelid
     where i.indrelid = c.oid and not x.relispartition
       and not exists (select from pg_constraint k where k.conindid = i.indexrelid and k.contype in ('p', 'u', 'x'))),
    (select string_agg(pg_get_triggerdef(t.oid, true) || ';', E'\\n' order by t.tgname collate "C")
     from pg_trigger t where t.tgrelid = c.oid and not t.tgisinternal and t.tgparentid = 0)) as statement
  from pg_class c
  where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and c.relname !~ '_[0-9]{8}$'
  order by c.relname collate "C"`;

const VIEWS = `
  select format(E'CREATE VIEW %I AS\\n%s', relname, pg_get_viewdef(oid, true)) as statement
  from pg_class where relnamespace = 'public'::regnamespace and relkind = 'v' order by relname collate "C"`;

const FUNCTIONS = `
  select regexp_replace(rtrim(pg_get_functiondef(oid), E'\\n'), '^CREATE OR REPLACE (FUNCTION|PROCEDURE) public\\.', 'CREATE \\1 ')
    || ';' as statement
  from pg_proc where pronamespace = 'public'::regnamespace and prokind in ('f', 'p')
  order by proname collate "C", pg_get_function_identity_arguments(oid) collate "C"`;

const SECTIONS = [TYPES, SEQUENCES, TABLES, VIEWS, FUNCTIONS] as const;
