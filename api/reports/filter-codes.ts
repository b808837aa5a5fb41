import type { Queryable } from "../../schemas/postgres/connect.ts";
import { invalidParameter } from "../operation/errors.ts";
import type { Entity } from "./dimensions.ts";
import type { ReportFilter } from "./report-filters.ts";
import type { ReportScope } from "./report-scope.ts";

/** Private offers are for approved partners only (G49). A code goes before an alias (N112). */
const OFFERS = `with named as (
    select id as offer_id, lower(code) as code, true as is_own from offer where workspace_id = $1 and lower(code) = any($2::text[])
    union all
    select target_id, lower(alias), false from code_alias
    where workspace_id = $1 and kind = 'offer' and lower(alias) = any($2::text[])
  )
  select o.id, n.code from named n join offer o on o.id = n.offer_id
  left join offer_access ac on ac.offer_id = o.id and ac.affiliate_id = $3
  where ($3::integer is null or o.visibility <> 'private' or ac.status = 'approved')
    and ($4::integer is null or o.advertiser_id = $4)
  order by n.is_own, o.deleted_at is null, o.id`;
const AFFILIATES = `with named as (
    select id, lower(code) as code, true as is_own from affiliate where workspace_id = $1 and lower(code) = any($2::text[])
    union all
    select target_id, lower(alias), false from code_alias
    where workspace_id = $1 and kind = 'affiliate' and lower(alias) = any($2::text[])
  )
  select id, code from named where ($3::integer is null or id = $3) and $4::integer is null
  order by is_own, id`;

/**
 * Records by the name that reports show, and smart links by their code: for what is no code or alias. $1 workspace, $2 names in lower case,
 * $3 a partner, $4 an advertiser.
 */
const NAMED: Readonly<Record<Exclude<Entity, "event">, string>> = {
  offer: `select o.id, lower(o.name) as name from offer o
    left join offer_access ac on ac.offer_id = o.id and ac.affiliate_id = $3
    where o.workspace_id = $1 and lower(o.name) = any($2::text[])
      and ($3::integer is null or o.visibility <> 'private' or ac.status = 'approved')
      and ($4::integer is null or o.advertiser_id = $4)`,
  affiliate: `select id, lower(name) as name from affiliate
    where workspace_id = $1 and lower(name) = any($2::text[]) and ($3::integer is null or id = $3) and $4::integer is null`,
  advertiser: `select id, lower(name) as name from advertiser
    where workspace_id = $1 and lower(name) = any($2::text[]) and $3::integer is null and ($4::integer is null or id = $4)`,
  smart_link: `select id, n as name from smart_link, unnest($2::text[]) n
    where workspace_id = $1 and n in (lower(name), lower(code)) and ($3::integer is null or affiliate_id = $3) and $4::integer is null`,
  manager: `select id, lower(name) as name from app_user
    where workspace_id = $1 and lower(name) = any($2::text[]) and $3::integer is null and $4::integer is null`,
};
const BY_CODE: Partial<Record<Entity, string>> = { offer: OFFERS, affiliate: AFFILIATES };

/** Codes of events by the name that reports show. Private events are not for partners. */
const EVENTS = `select distinct e.code, lower(n) as name
  from offer_event e join offer o on o.id = e.offer_id, unnest($2::text[]) n
  where o.workspace_id = $1 and n in (lower(e.name), lower(e.code)) and ($3::integer is null or not e.is_private)
    and ($4::integer is null or o.advertiser_id = $4)`;

/**
 * Filters with ids in place of the codes and names of records, and with codes in place of the names of events. A name means all records that
 * have it. A name that the key may not see counts as unknown, otherwise a partner could find out which exist (P30).
 * @throws {ApiError} `invalid_parameter` for an unknown code or name.
 */
export async function withIds(
  db: Queryable,
  filters: readonly ReportFilter[],
  scope: ReportScope,
): Promise<readonly ReportFilter[]> {
  const found: ReportFilter[] = [];
  for (const filter of filters) {
    const { entity, kind } = filter.dimension;
    const names = filter.values.filter(isText).filter((name) => name !== "");
    if (entity === undefined || names.length === 0 || !COMPARES_WHOLE.has(filter.operator))
      found.push(filter);
    else if (entity === "event") found.push(await withEventCodes(db, filter, { scope, names }));
    else found.push(kind === "id" ? await replaced(db, filter, { entity, scope, names }) : filter);
  }
  return found;
}

const COMPARES_WHOLE: ReadonlySet<ReportFilter["operator"]> = new Set(["in", "not_in"]);

type Named = { readonly scope: ReportScope; readonly names: readonly string[] };

async function replaced(
  db: Queryable,
  filter: ReportFilter,
  { entity, scope, names }: Named & { readonly entity: Exclude<Entity, "event"> },
): Promise<ReportFilter> {
  const ids = new Map<string, readonly number[]>();
  const byCode = BY_CODE[entity];
  if (byCode !== undefined) {
    const rows = await find<{ id: number; code: string }>(db, `${entity}-codes`, {
      text: byCode,
      scope,
      names,
    });
    // A code that was given again belongs to the record that is there now, which comes last. Aliases come first, so a code replaces them.
    for (const { id, code } of rows) ids.set(code, [id]);
  }
  const left = names.filter((name) => !ids.has(lower(name)));
  if (left.length > 0) {
    const rows = await find<{ id: number; name: string }>(db, `${entity}-names`, {
      text: NAMED[entity],
      scope,
      names: left,
    });
    for (const { id, name } of rows) ids.set(name, [...(ids.get(name) ?? []), id]);
  }
  const values = filter.values.flatMap((value) => {
    if (!isText(value)) return [value];
    const known = ids.get(lower(value));
    if (known === undefined) {
      throw invalidParameter(
        "filters",
        `there is no ${filter.dimension.name} with the code or name "${value}"`,
      );
    }
    return known;
  });
  return { ...filter, values };
}

/** A code in its own spelling stays, also of an event that no longer exists. */
async function withEventCodes(
  db: Queryable,
  filter: ReportFilter,
  { scope, names }: Named,
): Promise<ReportFilter> {
  const rows = await find<{ code: string; name: string }>(db, "event-names", {
    text: EVENTS,
    scope,
    names,
  });
  const values = filter.values.flatMap((value) => {
    const found = rows.filter(({ name }) => name === lower(String(value)));
    const isCode = found.length === 0 || found.some(({ code }) => code === value);
    return isCode ? [value] : found.map(({ code }) => code);
  });
  return { ...filter, values };
}

async function find<Row extends object>(
  db: Queryable,
  what: string,
  { text, scope, names }: Named & { readonly text: string },
): Promise<readonly Row[]> {
  const { rows } = await db.query<Row>({
    name: `read-report-${what}`,
    text,
    values: [
      scope.workspaceId,
      names.map(lower),
      scope.role === "partner" ? scope.ownerId : null,
      scope.role === "advertiser" ? scope.ownerId : null,
    ],
  });
  return rows;
}

function lower(name: string): string {
  return name.trim().toLowerCase();
}

function isText(value: string | number): value is string {
  return typeof value === "string";
}
