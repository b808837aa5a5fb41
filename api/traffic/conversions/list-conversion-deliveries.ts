import { z } from "zod";
import { staff } from "../../access/access-of-operations.ts";
import { refusalOfAccess } from "../../access/authorize.ts";
import { showTo } from "../../access/visibility.ts";
import { openPage } from "../../http/page.ts";
import { pageParams, wordParam } from "../../http/query-fields.ts";
import { listDeliveriesOfConversion } from "../../messages/deliveries/deliveries.ts";
import { DELIVERY_STATUSES, shownDelivery } from "../../messages/deliveries/delivery-log.ts";
import { webhooks } from "../../messages/webhooks/webhooks.ts";
import { type Operation, operation } from "../../operation/operation.ts";
import { ConversionPath, getConversionOfPath } from "./get-conversion.ts";

const KINDS = ["postback", "webhook"] as const;

const ShownDelivery = shownDelivery("conversion_delivery", "ConversionDelivery", {
  id: z.string(),
  kind: z.enum(KINDS),
  endpoint_id: z.int(),
  trigger: z.string(),
  event: z.string(),
});

export const listConversionDeliveries: Operation = operation({
  name: "listConversionDeliveries",
  method: "GET",
  path: "/conversions/{id}/deliveries",
  tag: "Conversions",
  summary: "List the deliveries of a conversion",
  description:
    "Who was notified of the conversion: deliveries to postbacks and webhooks, newest first. Deliveries to webhooks are listed for keys that may read webhooks.",
  access: staff("postbacks.read"),
  input: {
    path: ConversionPath,
    query: z.object({
      ...pageParams,
      kind: wordParam(...KINDS),
      status: wordParam(...DELIVERY_STATUSES),
    }),
  },
  output: z.object({ data: z.array(ShownDelivery), next_cursor: z.string().nullable() }),
  status: 200,
  findResource: getConversionOfPath,
  run: async (context, { query, resource: { id } }) => {
    const { db, principal } = context;
    // A cursor is valid for this conversion only.
    const page = openPage(context, "listConversionDeliveries", { ...query, conversion: id });
    const mayReadWebhooks = refusalOfAccess(principal, webhooks.list.access) === undefined;
    const filters = {
      kind: query.kind,
      status: query.status,
      only_postbacks: mayReadWebhooks ? undefined : true,
    };
    const rows = await listDeliveriesOfConversion(db, id, { ...page, filters });
    return {
      body: page.close(rows, {
        positionOf: (row) => ({ at: row.created_at, id: row.id }),
        show: (row) =>
          showTo(principal.role, "conversion_delivery", { ...row, endpoint_id: row.postback_id }),
      }),
    };
  },
});
