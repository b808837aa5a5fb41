import type { Queryable } from "../postgres/connect.ts";
import { DAY_MS } from "../time/zone.ts";
import { PERSONAL_PARAMS } from "./personal-fields.ts";

/** The 30 days that logs are kept, and one more. Each statement covers one day, so that none takes long. */
const LOG_DAYS = 31;

/** Clears the inbound log of these clicks and conversions. The address in a `/pb` row belongs to a server, so it stays. */
export async function eraseLogOf(
  db: Queryable,
  of: {
    readonly workspaceId: number;
    readonly clickIds: readonly string[];
    readonly conversionIds: readonly string[];
  },
): Promise<number> {
  const { rowCount } = await db.query({
    name: "erase-postback-log-of-person",
    text: `update postback_log l
           set ip = case when l.endpoint = 'pb' then l.ip end, params = without_person(l.params, $4::text[], '{}')
           where l.workspace_id = $1 and (l.click_id = any($2::text[]) or l.conversion_id = any($3::uuid[]))
             and (l.endpoint <> 'pb' and l.ip is not null or l.params <> without_person(l.params, $4::text[], '{}'))`,
    values: [of.workspaceId, of.clickIds, of.conversionIds, PERSONAL_PARAMS],
  });
  return rowCount ?? 0;
}

type Values = {
  readonly workspaceId: number;
  /** Compared with the address of a call. */
  readonly addresses: readonly string[];
  /** `visitors`: only of calls that a visitor's browser sends. A `/pb` comes from a server, which reports many visitors (G235). */
  readonly senders: "all" | "visitors";
  /** Compared with each parameter of a call. */
  readonly values: readonly string[];
  readonly untilMs: number;
};

/** Clears values in the whole inbound log of a workspace. */
export async function eraseLogValues(db: Queryable, erased: Values): Promise<number> {
  const { workspaceId, addresses, values, senders, untilMs } = erased;
  if (addresses.length === 0 && values.length === 0) return 0;
  let changed = 0;
  for (const [from, to] of daysUpTo(untilMs)) {
    const { rowCount } = await db.query({
      name: "erase-postback-log-values",
      text: `update postback_log l
             set ip = case when l.ip = any($2::inet[]) and ($6 or l.endpoint <> 'pb') then null else l.ip end,
               params = without_person(l.params, '{}', $3::text[])
             where l.workspace_id = $1 and l.ts >= $4 and l.ts < $5
               and (l.ip = any($2::inet[]) and ($6::boolean or l.endpoint <> 'pb')
                 or l.params <> '{}' and l.params <> without_person(l.params, '{}', $3::text[]))`,
      values: [workspaceId, addresses, values, from, to, senders === "all"],
    });
    changed += rowCount ?? 0;
  }
  return changed;
}

/**
 * Clears deliveries of these conversions and their attempts: ad ids in their documents, and URLs, bodies and answers that contain one of
 * `values`.
 */
export async function eraseDeliveriesOf(
  db: Queryable,
  erased: { readonly conversionIds: readonly string[]; readonly values: readonly string[] },
): Promise<number> {
  await db.query({
    name: "erase-attempts-of-person",
    text: `update delivery_attempt a
           set url = case when has_any(a.url, $2::text[]) then '' else a.url end,
               body = case when has_any(a.body, $2::text[]) then '' else a.body end,
               response_body = case when has_any(a.response_body, $2::text[]) then '' else a.response_body end
           from delivery d
           where d.conversion_id = any($1::uuid[]) and a.delivery_id = d.id
             and (has_any(a.url, $2::text[]) or has_any(a.body, $2::text[]) or has_any(a.response_body, $2::text[]))`,
    values: [erased.conversionIds, erased.values],
  });
  const { rowCount } = await db.query({
    name: "erase-deliveries-of-person",
    text: `update delivery d
           set url = case when has_any(d.url, $2::text[]) then '' else d.url end,
               response_body = case when has_any(d.response_body, $2::text[]) then '' else d.response_body end,
               facts = case when d.facts ? 'body'
                 then jsonb_set(d.facts, '{body}', to_jsonb(without_ad_ids(d.facts ->> 'body'))) else d.facts end
           where d.conversion_id = any($1::uuid[])
             and (has_any(d.url, $2::text[]) or has_any(d.response_body, $2::text[])
               or d.facts ->> 'body' <> without_ad_ids(d.facts ->> 'body'))`,
    values: [erased.conversionIds, erased.values],
  });
  return rowCount ?? 0;
}

const CLEAR_DELIVERY = `update delivery d
  set url = case when d.url ~ $2 then '' else d.url end,
      response_body = case when d.response_body ~ $2 then '' else d.response_body end
  where d.workspace_id = $1 and (d.url ~ $2 or d.response_body ~ $2)`;

const CLEAR_ATTEMPTS = `update delivery_attempt a
  set url = case when a.url ~ $2 then '' else a.url end,
      body = case when a.body ~ $2 then '' else a.body end,
      response_body = case when a.response_body ~ $2 then '' else a.response_body end
  from delivery d
  where d.workspace_id = $1 and a.delivery_id = d.id and (a.url ~ $2 or a.body ~ $2 or a.response_body ~ $2)`;

/** Clears the URLs, bodies and answers, in all deliveries of a workspace and their attempts, that match a pattern. */
export async function eraseDeliveriesMatching(
  db: Queryable,
  { workspaceId, pattern, untilMs }: Pick<Values, "workspaceId" | "untilMs"> & { pattern: string },
): Promise<number> {
  let changed = 0;
  for (const [from, to] of daysUpTo(untilMs)) {
    await db.query({
      name: "erase-attempt-values",
      text: `${CLEAR_ATTEMPTS} and d.finished_at >= $3 and d.finished_at < $4`,
      values: [workspaceId, pattern, from, to],
    });
    const { rowCount } = await db.query({
      name: "erase-delivery-values",
      text: `${CLEAR_DELIVERY} and d.finished_at >= $3 and d.finished_at < $4`,
      values: [workspaceId, pattern, from, to],
    });
    changed += rowCount ?? 0;
  }
  await db.query({
    name: "erase-attempt-values-of-waiting-deliveries",
    text: `${CLEAR_ATTEMPTS} and d.due_at is not null`,
    values: [workspaceId, pattern],
  });
  const { rowCount } = await db.query({
    name: "erase-values-of-waiting-deliveries",
    text: `${CLEAR_DELIVERY} and d.due_at is not null`,
    values: [workspaceId, pattern],
  });
  return changed + (rowCount ?? 0);
}

function* daysUpTo(untilMs: number): Generator<[string, string]> {
  const iso = (ms: number): string => new Date(ms).toISOString();
  // The last day ends a minute later, because clocks of processes differ a little.
  for (let day = LOG_DAYS - 1; day >= 0; day -= 1) {
    const toMs = untilMs - day * DAY_MS;
    yield [iso(toMs - DAY_MS), iso(day === 0 ? toMs + 60_000 : toMs)];
  }
}
