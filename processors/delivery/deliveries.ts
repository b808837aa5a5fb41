import { z } from "zod";
import type { Queryable } from "../../schemas/postgres/connect.ts";
import type { LeasedDelivery } from "./delivery.ts";
import type { Endpoint, Grant } from "./delivery-slots.ts";

/**
 * Endpoints with a delivery that is due by the clock of the server. Costs one index look-up for each endpoint with anything
 * waiting, however large its backlog is. Due times are rounded to milliseconds, so the clock is too: what was queued before this
 * question is due at it.
 */
export async function listDueEndpoints(db: Queryable): Promise<Endpoint[]> {
  const { rows } = await db.query<Endpoint>({
    name: "list-due-endpoints",
    text: `select w.destination, w.kind, w.endpoint_id from waiting_endpoints() w
           where w.due_at <= now()::timestamptz(3)`,
  });
  return rows;
}

export type LeaseRequest = {
  readonly token: string;
  readonly leaseMs: number;
  readonly grants: readonly Grant[];
};

/** Leases due deliveries, the oldest of each endpoint first. Rows that another worker is leasing at this moment are left to it. */
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
             d.lease_token, d.created_at`,
    values: [
      ...[token, leaseMs, grants.map(({ destination }) => destination)],
      ...[grants.map(({ kind }) => kind), grants.map(({ endpoint_id }) => endpoint_id)],
      grants.map(({ rows: count }) => count),
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
    text: `select (select count(*) from (select from delivery d where d.due_at is not null limit $1) c)::bigint as depth,
             coalesce(greatest(0, ceil(extract(epoch from now() - min(due_at)) * 1000)), 0)::bigint as late_ms
           from waiting_endpoints()`,
    values: [DEPTH_MAX],
  });
  return { depth: rows[0]?.depth ?? 0, lateMs: rows[0]?.late_ms ?? 0 };
}
