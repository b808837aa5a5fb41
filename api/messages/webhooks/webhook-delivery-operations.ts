import { z } from "zod";
import { showTo } from "../../access/visibility.ts";
import { oneOf } from "../../fields/body-fields.ts";
import { pathId, pathUuid } from "../../http/path-fields.ts";
import { notFound } from "../../operation/errors.ts";
import { type Operation, operation } from "../../operation/operation.ts";
import { WEBHOOK_EVENTS } from "../../records/webhook-events.ts";
import { listAttempts, shownWithHistory, showWithHistory } from "../deliveries/delivery-history.ts";
import { deliveryLog, shownDelivery } from "../deliveries/delivery-log.ts";
import { retryOperation } from "../deliveries/retry-deliveries.ts";
import { sampleOf } from "./sample-data.ts";
import { findWebhookDelivery, queueTest, repeatDelivery } from "./webhook-deliveries.ts";
import { webhooks, webhookWrite } from "./webhooks.ts";

const ShownDelivery = shownDelivery("webhook_delivery", "WebhookDelivery", {
  id: z.guid().meta({ description: "X-Tracker-Delivery" }),
  webhook_id: z.int(),
  event: z.enum(WEBHOOK_EVENTS),
  event_id: z.guid().meta({ description: "`id` of the document" }),
});
const one = z.object({ data: ShownDelivery });

export const listWebhookDeliveries: Operation = deliveryLog({
  kind: "webhook",
  resource: "webhook_delivery",
  name: "listWebhookDeliveries",
  summary: "List deliveries to a webhook",
  description: "Newest first.",
  of: webhooks.get,
  Shown: ShownDelivery,
});

export const getWebhookDelivery: Operation = operation({
  name: "getWebhookDelivery",
  method: "GET",
  path: "/webhook-deliveries/{id}",
  tag: "Management",
  summary: "Get a webhook delivery with its attempts",
  description:
    "What each attempt sent and what was answered, without the signature. They are kept as long as the delivery, also when it is given up.",
  access: webhooks.get.access,
  input: { path: z.object({ id: pathUuid }) },
  output: z.object({ data: shownWithHistory(ShownDelivery, "WebhookDeliveryWithHistory") }),
  status: 200,
  run: async ({ db, workspace, principal }, { path }) => {
    const delivery = await findWebhookDelivery(db, workspace.id, path.id);
    if (delivery === undefined) throw notFound("delivery");
    const history = await listAttempts(db, delivery.id);
    return {
      body: { data: showWithHistory(principal, "webhook_delivery", { delivery, history }) },
    };
  },
});

export const retryWebhookDelivery: Operation = operation({
  name: "retryWebhookDelivery",
  method: "POST",
  path: "/webhook-deliveries/{id}/retry",
  tag: "Management",
  summary: "Retry a webhook delivery",
  description:
    "Sends the document again at once, as a new delivery with the same body. Works for any delivery of the log, including one that has arrived: consumers recognise a repeat by the `id` of the document.",
  access: webhookWrite,
  input: { path: z.object({ id: pathUuid }) },
  output: one,
  status: 200,
  run: async (context, { path }) => {
    const row = await repeatDelivery(context, path.id);
    if (row === undefined) throw notFound("delivery");
    return { body: { data: showTo(context.principal.role, "webhook_delivery", row) } };
  },
});

export const retryWebhookDeliveries: Operation = retryOperation({
  kind: "webhook",
  name: "retryWebhookDeliveries",
  summary: "Send undelivered documents of a webhook again, up to 1,000",
  access: webhookWrite,
  of: webhooks.get,
});

export const testWebhook: Operation = operation({
  name: "testWebhook",
  method: "POST",
  path: "/webhooks/{id}/test",
  tag: "Management",
  summary: "Test a webhook",
  description: "Sends an event with sample data, marked `test`. The webhook need not be active.",
  access: webhookWrite,
  input: {
    path: z.object({ id: pathId }),
    body: z.strictObject({ event: oneOf(...WEBHOOK_EVENTS) }),
  },
  output: one,
  status: 200,
  findResource: webhooks.get.findResource,
  run: async (context, { path, body: { event } }) => {
    const row = await queueTest(context, path.id, event, sampleOf(event));
    if (row === undefined) throw notFound("webhook");
    return { body: { data: showTo(context.principal.role, "webhook_delivery", row) } };
  },
});
