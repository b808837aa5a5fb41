import { z } from "zod";
import type { Queryable } from "../../../schemas/postgres/connect.ts";
import { quoteIdentifier } from "../../../schemas/postgres/quote.ts";
import { oneOf } from "../../fields/body-fields.ts";
import { time } from "../../fields/catalog-fields.ts";
import { pathId } from "../../http/path-fields.ts";
import { conflict } from "../../operation/errors.ts";
import { type Operation, type OperationAccess, operation } from "../../operation/operation.ts";
import type { DeliveryKind } from "./deliveries.ts";

/** Deliveries of one request. They are due at once, and the delivery processors send as many at a time as the receiver takes. */
const RETRIED_MAX = 1_000;

const Body = z.strictObject({
  status: oneOf("failed", "retrying").optional(),
  from: time.optional(),
  to: time.optional(),
});
type Body = z.output<typeof Body>;

type Endpoint = {
  readonly kind: DeliveryKind;
  readonly id: number;
  readonly affiliateId: number | undefined;
};

/** Sends undelivered deliveries of an endpoint again, under the path of the operation that answers the endpoint. */
export function retryOperation(retry: {
  readonly kind: DeliveryKind;
  readonly name: string;
  readonly summary: string;
  readonly access: OperationAccess;
  readonly of: Operation;
  /** Why the endpoint takes no deliveries now. */
  readonly refuse?: (endpoint: unknown) => string | undefined;
}): Operation {
  const { kind, of } = retry;
  return operation({
    name: retry.name,
    method: "POST",
    path: `${of.path}/deliveries/retry`,
    tag: of.tag,
    summary: retry.summary,
    description:
      `The ${RETRIED_MAX} oldest of those that match, at once and with all their attempts. Send the request again while \`has_more\` is ` +
      "true: a delivery that is due again no longer matches, so none is sent twice. Those with an attempt under way are left out.",
    access: retry.access,
    input: { path: z.object({ id: pathId }), body: Body },
    bodyDefaults: { status: "failed" },
    output: z.object({
      data: z
        .strictObject({ restarted: z.array(z.guid()), has_more: z.boolean() })
        .meta({ id: "RetriedDeliveries" }),
    }),
    status: 200,
    failures: ["conflict"],
    findResource: of.findResource,
    run: async (context, { path, body, resource }) => {
      const refusal = retry.refuse?.(resource);
      if (refusal !== undefined) throw conflict("status", refusal);
      const endpoint = { kind, id: path.id, affiliateId: context.principal.affiliate?.id };
      const { db, requestId } = context;
      const restarted = await restart(db, endpoint, { ...body, requestId });
      return { body: { data: { restarted, has_more: restarted.length === RETRIED_MAX } } };
    },
  });
}

/** The latest URL of the endpoint counts, and a webhook gets what was asked for even if it is not active. */
async function restart(
  db: Queryable,
  endpoint: Endpoint,
  { status = "failed", from, to, requestId }: Body & { readonly requestId: string },
): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>({
    // Unnamed: the plan depends on the status, whose deliveries have an index of their own.
    text: `with chosen as (
             select d.id from delivery d
             where d.kind = $1 and d.endpoint_id = $2 and d.status = $3 and d.status in ('retrying', 'failed')
               and d.created_at >= $4 and d.created_at <= $5 and (d.lease_token is null or d.due_at <= clock_timestamp())
               and ($6::integer is null or exists (select from conversion c
                 where c.id = d.conversion_id and c.affiliate_id = $6 and not c.is_private))
             order by d.created_at, d.id limit $7 for update skip locked)
           update delivery d
           set status = 'pending', attempts_before = d.attempts_before + d.attempts, attempts = 0, due_at = clock_timestamp(),
             lease_token = null, error = '', finished_at = null,
             request_id = $8, traceparent = null, destination = e.destination,
             facts = case when d.kind = 'webhook' then d.facts || '{"is_ordered": true}' else d.facts end
           from chosen c, ${quoteIdentifier(endpoint.kind)} e where d.id = c.id and e.id = d.endpoint_id
           returning d.id`,
    values: [
      endpoint.kind,
      endpoint.id,
      status,
      from ?? "-infinity",
      to ?? "infinity",
      endpoint.affiliateId,
      RETRIED_MAX,
      requestId,
    ],
  });
  return rows.map(({ id }) => id);
}
