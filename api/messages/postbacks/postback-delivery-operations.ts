import { z } from "zod";
import { showTo } from "../../access/visibility.ts";
import { pathUuid } from "../../http/path-fields.ts";
import { conflict, notFound } from "../../operation/errors.ts";
import { type Operation, type OperationContext, operation } from "../../operation/operation.ts";
import { listAttempts, shownWithHistory, showWithHistory } from "../deliveries/delivery-history.ts";
import { deliveryLog, shownDelivery } from "../deliveries/delivery-log.ts";
import { retryOperation } from "../deliveries/retry-deliveries.ts";
import { deliveryForPartner, historyForPartner } from "./delivery-for-partner.ts";
import {
  type FoundDelivery,
  findPostbackDelivery,
  isDeliveryOfPartner,
  restartDelivery,
} from "./postback-deliveries.ts";
import { postbacks, postbackWrite } from "./postbacks.ts";

const ShownDelivery = shownDelivery("postback_delivery", "PostbackDelivery", {
  id: z.guid(),
  postback_id: z.int(),
  conversion_id: z.guid(),
  trigger: z.enum(["approved", "pending", "rejected", "reversal"]),
});

const SentPostback = z.looseObject({
  url: z.string(),
  body: z.string(),
  created_by_affiliate: z.boolean(),
  updated_at: z.string(),
});

export const listPostbackDeliveries: Operation = deliveryLog({
  kind: "postback",
  resource: "postback_delivery",
  name: "listPostbackDeliveries",
  summary: "List deliveries of a postback",
  description: "With their conversions, newest first.",
  of: postbacks.get,
  Shown: ShownDelivery,
  present: ({ affiliate }, row, postback) =>
    affiliate === null ? row : deliveryForPartner(row, SentPostback.parse(postback)),
});

const Endpoint = z.looseObject({ status: z.string() });

export const retryPostbackDeliveries: Operation = retryOperation({
  kind: "postback",
  name: "retryPostbackDeliveries",
  summary: "Send undelivered deliveries of a postback again, up to 1,000",
  access: postbackWrite,
  of: postbacks.get,
  refuse: (postback) => {
    const { status } = Endpoint.parse(postback);
    return status === "active" ? undefined : `the postback is ${status}: set it active first`;
  },
});

export const getPostbackDelivery: Operation = operation({
  name: "getPostbackDelivery",
  method: "GET",
  path: "/postback-deliveries/{id}",
  tag: "Postbacks",
  summary: "Get a postback delivery with its attempts",
  description:
    "What each attempt sent and what was answered. They are kept as long as the delivery, also when it is retried by hand or given up.",
  access: postbacks.get.access,
  input: { path: z.object({ id: pathUuid }) },
  output: z.object({ data: shownWithHistory(ShownDelivery, "PostbackDeliveryWithHistory") }),
  status: 200,
  findResource: findDelivery,
  run: async ({ db, principal }, { resource: { delivery, postback } }) => {
    const history = await listAttempts(db, delivery.id);
    const shown =
      principal.affiliate === null
        ? { delivery, history }
        : {
            delivery: deliveryForPartner(delivery, postback),
            history: historyForPartner(history, delivery, postback),
          };
    return { body: { data: showWithHistory(principal, "postback_delivery", shown) } };
  },
});

export const retryPostbackDelivery: Operation = operation({
  name: "retryPostbackDelivery",
  method: "POST",
  path: "/postback-deliveries/{id}/retry",
  tag: "Postbacks",
  summary: "Retry a postback delivery",
  description:
    "Sends an undelivered delivery again, at once and with all its attempts. A delivery that has arrived is not sent twice, and one with an attempt under way is not sent in parallel: both are `conflict`.",
  access: postbackWrite,
  input: { path: z.object({ id: pathUuid }) },
  output: z.object({ data: ShownDelivery }),
  status: 200,
  failures: ["conflict"],
  findResource: findDelivery,
  run: async ({ db, principal, requestId }, { resource }) => {
    if (resource.delivery.status === "delivered")
      throw conflict("status", "this delivery has arrived");
    const restarted = await restartDelivery(db, resource.delivery.id, requestId);
    if (restarted === undefined)
      throw conflict(
        "status",
        "an attempt of this delivery is under way: try again when it has ended",
      );
    const shown =
      principal.affiliate === null ? restarted : deliveryForPartner(restarted, resource.postback);
    return { body: { data: showTo(principal.role, "postback_delivery", shown) } };
  },
});

/** The delivery, and the postback as it is now. */
async function findDelivery(
  { db, workspace, principal: { affiliate } }: OperationContext,
  { id }: { readonly id: string },
): Promise<FoundDelivery> {
  const found = await findPostbackDelivery(db, workspace.id, id);
  const isSeen =
    found !== undefined &&
    (affiliate === null || (await isDeliveryOfPartner(db, affiliate.id, found.delivery)));
  if (!isSeen) throw notFound("delivery");
  return found;
}
