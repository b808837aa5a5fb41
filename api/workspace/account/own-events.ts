import type { Queryable } from "../../../schemas/postgres/connect.ts";
import type { Position } from "../../operation/cursor.ts";

/** Where the calls of an advertiser are counted. */
type Owner = { readonly workspaceId: number; readonly advertiserId: number };

type OwnEvent = {
  readonly id: number;
  readonly code: string;
  readonly name: string;
  readonly offer_id: number;
  readonly offer_code: string;
  readonly offer_name: string;
  /** When the offer was created. */
  readonly created_at: string;
};

/** Calls with one result. `event_id` is null for calls whose event is unknown. */
export type CountedCalls = {
  readonly event_id: number | null;
  readonly result: string;
  readonly last_24h: number;
  readonly last_7d: number;
  readonly last_at: string;
};

/** Events of the advertiser's offers, the newest offer's first, at most `rowsMax`. `after` is the result of `positionOfEvent`. */
export async function listEventsOfAdvertiser(
  db: Queryable,
  { workspaceId, advertiserId }: Owner,
  page: { readonly after: Position | undefined; readonly rowsMax: number },
): Promise<OwnEvent[]> {
  const [offerId = "0", eventId = "0"] = (page.after?.id ?? "0").split(".");
  const { rows } = await db.query<OwnEvent>({
    name: "list-events-of-advertiser",
    text: `select e.id, e.code, e.name, o.id as offer_id, o.code as offer_code, o.name as offer_name, o.created_at
           from (
             select o.id, o.code, o.name, o.created_at from offer o
             where o.workspace_id = $1 and o.advertiser_id = $2 and o.deleted_at is null
               and (o.created_at, o.id) <= ($3::timestamptz, $4::integer)
             order by o.created_at desc, o.id desc limit $6) o
           join offer_event e on e.offer_id = o.id
           where (o.created_at, o.id, e.id) < ($3::timestamptz, $4::integer, $5::integer)
           order by o.created_at desc, o.id desc, e.id desc limit $6`,
    values: [
      workspaceId,
      advertiserId,
      page.after?.at ?? "infinity",
      offerId,
      eventId,
      page.rowsMax,
    ],
  });
  return rows;
}

export function positionOfEvent(event: OwnEvent): Position {
  return { at: event.created_at, id: `${event.offer_id}.${event.id}` };
}

/** Calls that are counted. Reading so many from the index takes about a second. */
export const CALLS_MAX = 1_000_000;

/**
 * Calls of the last 7 days that were about one of the events, and with `withUnassigned` calls whose event is unknown. If the advertiser has
 * more than {@link CALLS_MAX}, only the newest are counted, and `isWhole` is false.
 */
export async function countCalls(
  db: Queryable,
  { workspaceId, advertiserId }: Owner,
  asked: {
    readonly eventIds: readonly number[];
    readonly withUnassigned: boolean;
    readonly nowMs: number;
  },
): Promise<{ readonly calls: readonly CountedCalls[]; readonly isWhole: boolean }> {
  const { rows } = await db.query<CountedCalls & { readonly is_whole: boolean }>({
    name: "count-calls-of-advertiser",
    text: `with newest as materialized (
             select event_id, result, ts from postback_log
             where workspace_id = $1 and advertiser_id = $2 and ts > $5::timestamptz - interval '7 days'
             order by ts desc limit $6)
           select event_id, result, count(*) filter (where ts > $5::timestamptz - interval '24 hours') as last_24h,
             count(*) as last_7d, max(ts) as last_at, (select count(*) from newest) < $6 as is_whole
           from newest where event_id = any($3::integer[]) or ($4::boolean and event_id is null)
           group by event_id, result`,
    values: [
      workspaceId,
      advertiserId,
      asked.eventIds,
      asked.withUnassigned,
      new Date(asked.nowMs).toISOString(),
      CALLS_MAX,
    ],
  });
  const calls = rows.map(({ is_whole: _isWhole, ...counted }) => counted);
  return { calls, isWhole: rows.every((row) => row.is_whole) };
}
