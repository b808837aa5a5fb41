import { z } from "zod";
import type { Queryable } from "../../schemas/postgres/connect.ts";
import type { LeasedDelivery } from "./delivery.ts";
import type { Endpoint, Grant } from "./delivery-slots.ts";

/**
 * Endpoints with a delivery that is due by the clock of the server. Costs one index look-up for each endpoint with waiting deliveries,
 * however large its backlog is. Due times are rounded to milliseconds, and so is the clock here: a delivery that was queued before this
 * statement is therefore due in it. Empty while an operator holds deliveries.
 */
export async function listDueEndpoints(db: Queryable): Promise<Endpoint[]> {
  const { rows } = await db.query<Endpoint>({
    name: "list-due-endpoints",
    text: `select w.destination, w.kind, w.endpoint_id from waiting_endpoints() w
           where w.due_at <= now()::timestamptz(3) and not exists (select from delivery_hold)`,
  });
  return rows;
}

export type LeaseRequest = {
  readonly token: string;
  readonly leaseMs: number;
  readonly grants: readonly Grant[];
};

/** Leases due deliveries, the oldest of each endpoint first. Skips rows that another worker is leasing at this moment. */
export async function leaseDueDeliveries(
  db: Queryable,
  { token, leaseMs, grants }: LeaseRequest,
): Promise<LeasedDelivery[]> {
  const { rows } = await db.query<LeasedDelivery>({
    name: "lease-due-deliveries",
    text: `update delivery d
           set lease_token = $1::uuid, attempts = d.attempts + 1,
               due_at = clock_timestamp() + $2::bigint * interval '1 millisecond'
           where d.id = any(array(
             select due.id
             from unnest($3::text[], $4::text[], $5::integer[], $6::integer[]) as g(destination, kind, endpoint_id, rows)
             cross join lateral (
               select q.id from delivery q
               where q.due_at is not null
                 and (q.destination, q.kind, q.endpoint_id, q.due_at) >= (g.destination, g.kind, g.endpoint_id, '-infinity'::timestamptz)
                 and (q.destination, q.kind, q.endpoint_id, q.due_at) <= (g.destination, g.kind, g.endpoint_id, now()::timestamptz(3))
               order by q.destination, q.kind, q.endpoint_id, q.due_at limit g.rows for update skip locked
             ) due))
           returning d.id, d.kind, d.endpoint_id, d.destination, d.conversion_id, d.trigger, d.facts, d.attempts,
             d.lease_token, d.created_at, d.request_id, d.traceparent`,
    values: [
      token,
      leaseMs,
      grants.map(({ destination }) => destination),
      grants.map(({ kind }) => kind),
      grants.map(({ endpoint_id }) => endpoint_id),
      grants.map(({ rows: count }) => count),
    ],
  });
  return rows;
}

/**
 * Gives back deliveries that were leased and not sent: that was no attempt. They stay due at the end of their lease, so that a row that
 * can never be prepared does not stop the others.
 */
export async function giveBackDeliveries(
  db: Queryable,
  all: readonly Pick<LeasedDelivery, "id" | "lease_token">[],
): Promise<void> {
  await db.query({
    name: "give-back-deliveries",
    text: `update delivery d set lease_token = null, attempts = d.attempts - 1
           from unnest($1::uuid[], $2::uuid[]) as g(id, token) where d.id = g.id and d.lease_token = g.token`,
    values: [all.map(({ id }) => id), all.map(({ lease_token }) => lease_token)],
  });
}

/** Limit for one page. */
const HTML_POSTBACKS_MAX = 10;

/**
 * Leases for `leaseMs` the HTML postbacks of a conversion that wait for a page to carry them. Leases no postback a second time, and none
 * that a delivery worker has leased.
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
               and d.lease_token is null and not exists (select from delivery_hold)
             order by p.id limit $4::integer for update of d skip locked
           )
           update delivery d
           set lease_token = $2::uuid, attempts = 1, due_at = clock_timestamp() + $3::bigint * interval '1 millisecond'
           from waiting where d.id = waiting.id
           returning d.id, d.kind, d.endpoint_id, d.destination, d.conversion_id, d.trigger, d.facts, d.attempts,
             d.lease_token, d.created_at, d.request_id, d.traceparent`,
    values: [request.conversionId, request.token, request.leaseMs, HTML_POSTBACKS_MAX],
  });
  return rows;
}

/** The result of an attempt, in the form that schemas/postgres/functions/settle_delivery.sql expects. */
export type Settlement = {
  readonly status: "delivered" | "retrying" | "failed";
  readonly url: string;
  readonly error: string;
  readonly response_status: number | null;
  readonly response_body: string;
  readonly retry_in_ms: number | null;
  /** False for a delivery that was refused before it was sent: that is not an attempt. */
  readonly is_sent: boolean;
  /** Of the request that was sent; null for HTML that a page carries. */
  readonly method?: "GET" | "POST" | null;
  /** As sent. Left out for the document of a webhook, which its row has. */
  readonly body?: string;
  readonly duration_ms?: number;
  /** Whether a failure counts for disabling the endpoint (G126). */
  readonly is_endpoints_fault: boolean;
};

const Settled = z.enum(["settled", "stale", "disabled", "due"]);
export type Settled = z.infer<typeof Settled>;

/**
 * Records results in one statement and returns what became of each, in order: 'stale' if another worker has leased the row since, in
 * which case nothing is recorded. Rows are locked in the order of their ids.
 */
export async function settleDeliveries(
  db: Queryable,
  all: readonly {
    readonly delivery: Pick<LeasedDelivery, "id" | "lease_token">;
    readonly settlement: Settlement;
  }[],
): Promise<Settled[]> {
  const { rows } = await db.query<{ ordinal: number; settled: unknown }>({
    name: "settle-deliveries",
    text: `select s.ordinal, settle_delivery(s.id, s.token, s.result) as settled
           from (select u.id, u.token, u.result, u.ordinal
                 from unnest($1::uuid[], $2::uuid[], $3::jsonb[]) with ordinality as u(id, token, result, ordinal)
                 order by u.id) s`,
    values: [
      all.map(({ delivery }) => delivery.id),
      all.map(({ delivery }) => delivery.lease_token),
      all.map(({ settlement }) => JSON.stringify(settlement)),
    ],
  });
  return rows
    .toSorted((a, b) => a.ordinal - b.ordinal)
    .map(({ settled }) => Settled.parse(settled));
}

/** {@link settleDeliveries} for one delivery. */
export async function settleDelivery(
  db: Queryable,
  delivery: Pick<LeasedDelivery, "id" | "lease_token">,
  settlement: Settlement,
): Promise<Settled> {
  const [settled] = await settleDeliveries(db, [{ delivery, settlement }]);
  return settled ?? "stale";
}

/** Counting stops here. */
const DEPTH_MAX = 100_000;

/** How many deliveries wait (up to 100,000), and for how long the oldest due one has been due. */
export async function measureQueue(
  db: Queryable,
): Promise<{ readonly depth: number; readonly lateMs: number }> {
  const { rows } = await db.query<{ depth: number; late_ms: number }>({
    name: "measure-deliveries",
    text: `select (select count(*) from (select from delivery d where d.due_at is not null limit $1) c)::bigint as depth,
             coalesce(greatest(0, ceil(extract(epoch from now() - min(due_at)) * 1000)), 0)::bigint as late_ms
           from waiting_endpoints()`,
    values: [DEPTH_MAX],
  });
  return { depth: rows[0]?.depth ?? 0, lateMs: rows[0]?.late_ms ?? 0 };
}
