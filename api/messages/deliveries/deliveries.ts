import type { Queryable } from "../../../schemas/postgres/connect.ts";
import { quoteConditions } from "../../../schemas/postgres/quote.ts";
import { conditionsOf, type Filter } from "../../http/filter-conditions.ts";
import type { FilteredPage } from "../../http/page.ts";
import { statementName } from "../../http/statement-name.ts";

export type DeliveryKind = "postback" | "webhook";

/** One message to one endpoint with the result of its attempts. The visibility table says which fields a log shows. */
export type DeliveryRow = {
  readonly id: string;
  /** The endpoint, under the name that either kind uses. */
  readonly postback_id: number;
  readonly webhook_id: number;
  /** Set for postbacks. */
  readonly conversion_id: string | null;
  readonly trigger: string;
  /** Set for webhooks. */
  readonly event: string;
  readonly event_id: string | null;
  readonly url: string;
  readonly attempts: number;
  /** Also those before a retry by hand. */
  readonly total_attempts: number;
  readonly status: string;
  readonly error: string;
  readonly response_status: number | null;
  readonly response_body: string;
  /** Null when no further attempt is due, and during an attempt. */
  readonly next_attempt_at: string | null;
  readonly created_at: string;
  readonly finished_at: string | null;
};

/** Columns of `delivery d`. */
export const DELIVERY_COLUMNS = `d.id, d.endpoint_id as postback_id, d.endpoint_id as webhook_id, d.conversion_id, d.trigger,
  d.event, d.event_id, d.url, d.attempts, d.attempts_before + d.attempts as total_attempts, d.status, d.error, d.response_status, d.response_body,
  case when d.lease_token is null then d.due_at end as next_attempt_at, d.created_at, d.finished_at`;

const FILTERS: Readonly<Record<string, Filter>> = {
  only_postbacks: () => ({ text: () => "d.kind = 'postback'", values: [] }),
  /** Only deliveries for conversions of this partner that the partner sees (T12). */
  partner: (id) => ({
    text: (first) => `exists (select from conversion c
      where c.id = d.conversion_id and c.affiliate_id = $${first} and not c.is_private)`,
    values: [id],
  }),
};

/** Deliveries to one endpoint, newest first. The caller must have checked that the key may see the endpoint. */
export async function listDeliveriesOf(
  db: Queryable,
  endpoint: { readonly kind: DeliveryKind; readonly id: number },
  { filters, after, rowsMax }: FilteredPage,
): Promise<DeliveryRow[]> {
  const conditions = conditionsOf(filters, FILTERS, "d");
  const { rows } = await db.query<DeliveryRow>({
    ...statementName("list-deliveries", filters),
    text: `select ${DELIVERY_COLUMNS} from delivery d
           where d.kind = $1 and d.endpoint_id = $2 and (d.created_at, d.id) < ($3::timestamptz, $4::uuid)
             ${quoteConditions(conditions, 6)}
           order by d.created_at desc, d.id desc limit $5`,
    values: [
      endpoint.kind,
      endpoint.id,
      after?.at ?? "infinity",
      after?.id ?? "ffffffff-ffff-ffff-ffff-ffffffffffff",
      rowsMax,
      ...conditions.flatMap(({ values }) => values),
    ],
  });
  return rows;
}

/** Deliveries that a conversion caused, newest first. The caller must have checked that the key may read it. */
export async function listDeliveriesOfConversion(
  db: Queryable,
  conversionId: string,
  { filters, after, rowsMax }: FilteredPage,
): Promise<(DeliveryRow & { readonly kind: DeliveryKind })[]> {
  const conditions = conditionsOf(filters, FILTERS, "d");
  const { rows } = await db.query<DeliveryRow & { readonly kind: DeliveryKind }>({
    ...statementName("list-deliveries-of-conversion", filters),
    text: `select ${DELIVERY_COLUMNS}, d.kind from delivery d
           where d.conversion_id = $1 and (d.created_at, d.id) < ($2::timestamptz, $3::uuid)
             ${quoteConditions(conditions, 5)}
           order by d.created_at desc, d.id desc limit $4`,
    values: [
      conversionId,
      after?.at ?? "infinity",
      after?.id ?? "ffffffff-ffff-ffff-ffff-ffffffffffff",
      rowsMax,
      ...conditions.flatMap(({ values }) => values),
    ],
  });
  return rows;
}
