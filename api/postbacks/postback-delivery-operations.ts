import { z } from "zod";
import { shownSchema, showTo } from "../access/visibility.ts";
import { conflict, notFound } from "../errors.ts";
import { type Operation, type OperationContext, operation } from "../operation.ts";
import { shownTime } from "../rest/body-fields.ts";
import { openPage } from "../rest/page.ts";
import { pathId, pathUuid } from "../rest/path-fields.ts";
import { pageParams, wordParam } from "../rest/query-fields.ts";
import { onePostback, postbackRead, postbackWrite } from "./one-postback.ts";
import {
  type DeliveryRow,
  findPostbackDelivery,
  listDeliveriesOfPostback,
  restartDelivery,
} from "./postback-deliveries.ts";
import { isPostbackOfPartner } from "./postbacks.ts";

const STATUSES = ["pending", "delivered", "retrying", "failed"] as const;

const ShownDelivery = shownSchema("postback_delivery", {
  id: z.string(),
  postback_id: z.int(),
  conversion_id: z.string(),
  trigger: z.enum(["approved", "pending", "rejected", "reversal"]),
  url: z.string().meta({ description: "As it was sent last; empty before the first attempt" }),
  attempts: z.int(),
  status: z.enum(STATUSES),
  error: z.string(),
  response_status: z.int().nullable(),
  response_body: z.string().meta({ description: "The first 2 KB" }),
  next_attempt_at: shownTime
    .nullable()
    .meta({ description: "null when none is to come, and while one is under way" }),
  created_at: shownTime,
  finished_at: shownTime.nullable(),
}).meta({ id: "PostbackDelivery" });

const { findResource: findPostback } = onePostback.get;

export const listPostbackDeliveries: Operation = operation({
  name: "listPostbackDeliveries",
  method: "GET",
  path: "/postbacks/{id}/deliveries",
  tag: "Postbacks",
  summary: "What a postback told of which conversion, newest first",
  access: postbackRead,
  input: {
    path: z.object({ id: pathId }),
    query: z.object({ ...pageParams, status: wordParam(...STATUSES) }),
  },
  output: z.object({ data: z.array(ShownDelivery), next_cursor: z.string().nullable() }),
  status: 200,
  ...(findPostback === undefined ? {} : { findResource: findPostback }),
  run: async (context, { path, query }) => {
    const { db, principal } = context;
    // A cursor is good for this postback alone.
    const page = openPage(context, "listPostbackDeliveries", { ...query, id: path.id });
    const rows = await listDeliveriesOfPostback(db, path.id, { status: query.status }, page);
    return {
      body: page.close(rows, {
        positionOf: (row) => ({ at: row.created_at, id: row.id }),
        show: (row) => showTo(principal.role, "postback_delivery", row),
      }),
    };
  },
});

export const retryPostbackDelivery: Operation = operation({
  name: "retryPostbackDelivery",
  method: "POST",
  path: "/postback-deliveries/{id}/retry",
  tag: "Postbacks",
  summary:
    "Send a delivery that has not arrived again, at once and with all its attempts before it",
  description:
    "One that was delivered is not told twice, and one whose attempt is under way is not told beside it: both are `conflict`.",
  access: postbackWrite,
  input: { path: z.object({ id: pathUuid }) },
  output: z.object({ data: ShownDelivery }),
  status: 200,
  failures: ["conflict"],
  findResource: findDelivery,
  run: async ({ db, principal }, { resource }) => {
    if (resource.status === "delivered") throw conflict("status", "this delivery has arrived");
    const restarted = await restartDelivery(db, resource.id);
    if (restarted === undefined)
      throw conflict("status", "an attempt of this delivery is under way: look again after it");
    return { body: { data: showTo(principal.role, "postback_delivery", restarted) } };
  },
});

async function findDelivery(
  { db, workspace, principal: { affiliate } }: OperationContext,
  { id }: { readonly id: string },
): Promise<DeliveryRow> {
  const delivery = await findPostbackDelivery(db, workspace.id, id);
  const isSeen =
    delivery !== undefined &&
    (affiliate === null || (await isPostbackOfPartner(db, affiliate.id, delivery.postback_id)));
  if (!isSeen) throw notFound("delivery");
  return delivery;
}
