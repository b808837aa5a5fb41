import { z } from "zod";
import { type Resource, shownSchema, showTo } from "../../access/visibility.ts";
import { shownTime } from "../../fields/body-fields.ts";
import { openPage } from "../../http/page.ts";
import { pathId } from "../../http/path-fields.ts";
import { pageParams, wordParam } from "../../http/query-fields.ts";
import { type Operation, operation } from "../../operation/operation.ts";
import type { Principal } from "../../operation/principal.ts";
import { type DeliveryKind, type DeliveryRow, listDeliveriesOf } from "./deliveries.ts";

export const DELIVERY_STATUSES = ["pending", "delivered", "retrying", "failed"] as const;

/** A delivery in answers: the fields of its kind, and the common ones. */
export function shownDelivery(resource: Resource, id: string, fields: z.ZodRawShape): z.ZodObject {
  return shownSchema(resource, {
    ...fields,
    url: z.string().meta({ description: "URL of the last attempt; empty before the first" }),
    attempts: z.int(),
    total_attempts: z
      .int()
      .meta({ description: "Also those before a retry by hand, which allows all attempts again" }),
    status: z.enum(DELIVERY_STATUSES),
    error: z.string(),
    response_status: z.int().nullable(),
    response_body: z.string().meta({ description: "The first 2 KB" }),
    next_attempt_at: shownTime
      .nullable()
      .meta({ description: "null when none is due, and during an attempt" }),
    created_at: shownTime,
    finished_at: shownTime.nullable(),
  }).meta({ id });
}

/** The delivery log of one endpoint, under the path of the operation that answers the endpoint. */
export function deliveryLog(log: {
  readonly kind: DeliveryKind;
  readonly resource: Resource;
  readonly name: string;
  readonly summary: string;
  readonly description: string;
  readonly of: Operation;
  readonly Shown: z.ZodType;
  /** Adapts a delivery for the key, if hiding fields by role is not enough. `endpoint` is the record that `of` found. */
  readonly present?: (principal: Principal, row: DeliveryRow, endpoint: unknown) => DeliveryRow;
}): Operation {
  const { of } = log;
  return operation({
    name: log.name,
    method: "GET",
    path: `${of.path}/deliveries`,
    tag: of.tag,
    summary: log.summary,
    description: log.description,
    access: of.access,
    input: {
      path: z.object({ id: pathId }),
      query: z.object({ ...pageParams, status: wordParam(...DELIVERY_STATUSES) }),
    },
    output: z.object({ data: z.array(log.Shown), next_cursor: z.string().nullable() }),
    status: 200,
    findResource: of.findResource,
    run: async (context, { path, query, resource }) => {
      const { principal } = context;
      // A cursor is valid for this endpoint only.
      const page = openPage(context, log.name, { ...query, id: path.id });
      const endpoint = { kind: log.kind, id: path.id };
      const filters = { status: query.status, partner: principal.affiliate?.id };
      const rows = await listDeliveriesOf(context.db, endpoint, { ...page, filters });
      return {
        body: page.close(rows, {
          positionOf: (row) => ({ at: row.created_at, id: row.id }),
          show: (row) =>
            showTo(principal.role, log.resource, log.present?.(principal, row, resource) ?? row),
        }),
      };
    },
  });
}
