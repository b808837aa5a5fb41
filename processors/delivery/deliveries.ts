import { z } from "zod";
import type { Queryable } from "../../schemas/postgres/connect.ts";
import type { LeasedDelivery } from "./delivery.ts";

export type LeaseRequest = {
  readonly token: string;
  readonly leaseMs: number;
  readonly rowsMax: number;
  /** Rows of a destination that is not named below. */
  readonly rowsADestination: number;
  readonly limited: { readonly destinations: readonly string[]; readonly free: readonly number[] };
  /** The destination served last: the next one comes first. */
  readonly after: string;
};

/**
 * Leases what is due, the oldest of each destination first, by the clock of the server. Costs a look into the index for each
 * destination that has anything waiting, however much that is: a backlog of one is never walked through for another's sake.
 * Rows that another worker is taking at this moment are left to it. Due times are rounded to milliseconds, so the clock is too:
 * what was queued before this question is due at it.
 */
export async function leaseDueDeliveries(
  db: Queryable,
  request: LeaseRequest,
): Promise<LeasedDelivery[]> {
  const { rows } = await db.query<LeasedDelivery>({
    name: "lease-due-deliveries",
    text: `with recursive waiting as (
             (select d.destination from delivery d where d.due_at is not null order by d.destination limit 1)
             union all
             select (select d.destination from delivery d
                     where d.due_at is not null and d.destination > w.destination order by d.destination limit 1)
             from waiting w where w.destination is not null
           ), turn as (
             select w.destination, coalesce(l.free, $4::integer) as free
             from waiting w
             left join unnest($5::text[], $6::integer[]) as l(destination, free) on l.destination = w.destination
             where w.destination is not null and coalesce(l.free, $4::integer) > 0
             order by w.destination <= $7::text, w.destination
           ), due as (
             select d.id
             from turn t cross join lateral (
               select d.id from delivery d
               where d.destination = t.destination and d.due_at <= now()::timestamptz(3)
               order by d.due_at limit t.free for update skip locked
             ) d
             limit $3::integer
           )
           update delivery d
           set lease_token = $1::uuid, attempts = d.attempts + 1,
               due_at = clock_timestamp() + $2::bigint * interval '1 millisecond'
           from due where d.id = due.id
           returning d.id, d.kind, d.endpoint_id, d.destination, d.conversion_id, d.trigger, d.facts, d.attempts,
             d.lease_token, d.created_at`,
    values: [
      ...[request.token, request.leaseMs, request.rowsMax, request.rowsADestination],
      ...[request.limited.destinations, request.limited.free, request.after],
    ],
  });
  return rows;
}

/** More are not carried by one page. */
const HTML_POSTBACKS_MAX = 10;

/**
 * Leases the HTML postbacks of a conversion that wait for a page to carry them, for `leaseMs`. None of them is leased a second
 * time, nor one that the lane has in its hands.
 */
export async function leaseHtmlPostbacks(
  db: Queryable,
  request: { readonly conversionId: string; readonly token: string; readonly leaseMs: number },
): Promise<LeasedDelivery[]> {
  const { rows } = await db.query<LeasedDelivery>({
    name: "lease-html-postbacks",
    text: `with waiting as (
             select d.id
             from postback_firing f
             join delivery d on d.id = f.delivery_id
             join postback p on p.id = f.postback_id
             where f.conversion_id = $1::uuid and p.kind = 'html' and d.status = 'pending' and d.attempts = 0
               and d.lease_token is null
             order by p.id limit $4::integer for update of d skip locked
           )
           update delivery d
           set lease_token = $2::uuid, attempts = 1, due_at = clock_timestamp() + $3::bigint * interval '1 millisecond'
           from waiting where d.id = waiting.id
           returning d.id, d.kind, d.endpoint_id, d.destination, d.conversion_id, d.trigger, d.facts, d.attempts,
             d.lease_token, d.created_at`,
    values: [request.conversionId, request.token, request.leaseMs, HTML_POSTBACKS_MAX],
  });
  return rows;
}

/** What came of an attempt, as `settle_delivery` (migration 0007) takes it. */
export type Settlement = {
  readonly status: "delivered" | "retrying" | "failed";
  readonly url: string;
  readonly error: string;
  readonly response_status: number | null;
  readonly response_body: string;
  readonly retry_in_ms: number | null;
  /** False for what was refused before it was sent: it is no attempt. */
  readonly is_sent: boolean;
  /** Whether a failure counts for disabling the endpoint (G126). */
  readonly is_endpoints_fault: boolean;
};

const Settled = z.enum(["settled", "stale", "disabled", "due"]);
export type Settled = z.infer<typeof Settled>;

/**
 * Records results in one statement, and answers what came of each, in their order: nothing for one whose lease has passed to
 * another worker ('stale'). Rows are locked in the order of their ids.
 */
export async function settleDeliveries(
  db: Queryable,
  all: readonly {
    readonly delivery: Pick<LeasedDelivery, "id" | "lease_token">;
    readonly settlement: Settlement;
  }[],
): Promise<Settled[]> {
  const { rows } = await db.query<{ place: number; settled: unknown }>({
    name: "settle-deliveries",
    text: `select s.place, settle_delivery(s.id, s.token, s.result) as settled
           from (select u.id, u.token, u.result, u.place
                 from unnest($1::uuid[], $2::uuid[], $3::jsonb[]) with ordinality as u(id, token, result, place)
                 order by u.id) s`,
    values: [
      all.map(({ delivery }) => delivery.id),
      all.map(({ delivery }) => delivery.lease_token),
      all.map(({ settlement }) => JSON.stringify(settlement)),
    ],
  });
  return rows.toSorted((a, b) => a.place - b.place).map(({ settled }) => Settled.parse(settled));
}

/** {@link settleDeliveries} of one. */
export async function settleDelivery(
  db: Queryable,
  delivery: Pick<LeasedDelivery, "id" | "lease_token">,
  settlement: Settlement,
): Promise<Settled> {
  const [settled] = await settleDeliveries(db, [{ delivery, settlement }]);
  return settled ?? "stale";
}

/** More is not counted. */
const DEPTH_MAX = 100_000;

/** How many deliveries wait (up to 100,000), and for how long the oldest one that is due has been so. */
export async function measureQueue(
  db: Queryable,
): Promise<{ readonly depth: number; readonly lateMs: number }> {
  const { rows } = await db.query<{ depth: number; late_ms: number }>({
    name: "measure-deliveries",
    text: `with recursive waiting as (
             (select d.destination, d.due_at from delivery d
              where d.due_at is not null order by d.destination, d.due_at limit 1)
             union all
             select n.destination, n.due_at
             from waiting w cross join lateral (
               select d.destination, d.due_at from delivery d
               where d.due_at is not null and d.destination > w.destination
               order by d.destination, d.due_at limit 1) n
           )
           select (select count(*) from (select from delivery d where d.due_at is not null limit $1) c)::bigint as depth,
             coalesce(greatest(0, ceil(extract(epoch from now() - min(due_at)) * 1000)), 0)::bigint as late_ms
           from waiting`,
    values: [DEPTH_MAX],
  });
  return { depth: rows[0]?.depth ?? 0, lateMs: rows[0]?.late_ms ?? 0 };
}
