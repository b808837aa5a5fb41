import { z } from "zod";
import { shownSchema, showTo } from "../access/visibility.ts";
import { notFound } from "../errors.ts";
import { type Operation, operation } from "../operation.ts";
import { oneOf, shownTime } from "../rest/body-fields.ts";
import { openPage } from "../rest/page.ts";
import { pathId, pathUuid } from "../rest/path-fields.ts";
import { pageParams, wordParam } from "../rest/query-fields.ts";
import { sampleOf } from "./sample-data.ts";
import { listDeliveriesOfWebhook, queueTest, repeatDelivery } from "./webhook-deliveries.ts";
import { WEBHOOK_EVENTS } from "./webhook-events.ts";
import { webhookRead, webhooks, webhookWrite } from "./webhooks.ts";

const STATUSES = ["pending", "delivered", "retrying", "failed"] as const;

const ShownDelivery = shownSchema("webhook_delivery", {
  id: z.string().meta({ description: "X-Tracker-Delivery" }),
  webhook_id: z.int(),
  event: z.enum(WEBHOOK_EVENTS),
  event_id: z.string().meta({ description: "`id` of the document" }),
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
}).meta({ id: "WebhookDelivery" });
const one = z.object({ data: ShownDelivery });

const { findResource: findWebhook } = webhooks.get;

export const listWebhookDeliveries: Operation = operation({
  name: "listWebhookDeliveries",
  method: "GET",
  path: "/webhooks/{id}/deliveries",
  tag: "Management",
  summary: "What a webhook was told, newest first",
  access: webhookRead,
  input: {
    path: z.object({ id: pathId }),
    query: z.object({ ...pageParams, status: wordParam(...STATUSES) }),
  },
  output: z.object({ data: z.array(ShownDelivery), next_cursor: z.string().nullable() }),
  status: 200,
  ...(findWebhook === undefined ? {} : { findResource: findWebhook }),
  run: async (context, { path, query }) => {
    // A cursor is good for this webhook alone.
    const page = openPage(context, "listWebhookDeliveries", { ...query, id: path.id });
    const rows = await listDeliveriesOfWebhook(context.db, path.id, { status: query.status }, page);
    return {
      body: page.close(rows, {
        positionOf: (row) => ({ at: row.created_at, id: row.id }),
        show: (row) => showTo(context.principal.role, "webhook_delivery", row),
      }),
    };
  },
});

export const retryWebhookDelivery: Operation = operation({
  name: "retryWebhookDelivery",
  method: "POST",
  path: "/webhook-deliveries/{id}/retry",
  tag: "Management",
  summary: "Send a document again at once, as a new delivery with the same body",
  description:
    "Any delivery of the log, also one that has arrived: consumers tell by the `id` of the document that they have it.",
  access: webhookWrite,
  input: { path: z.object({ id: pathUuid }) },
  output: one,
  status: 200,
  run: async ({ db, workspace, principal }, { path }) => {
    const row = await repeatDelivery(db, workspace.id, path.id);
    if (row === undefined) throw notFound("delivery");
    return { body: { data: showTo(principal.role, "webhook_delivery", row) } };
  },
});

export const testWebhook: Operation = operation({
  name: "testWebhook",
  method: "POST",
  path: "/webhooks/{id}/test",
  tag: "Management",
  summary: "Send an event with sample data, marked `test`; the webhook need not be active",
  access: webhookWrite,
  input: {
    path: z.object({ id: pathId }),
    body: z.strictObject({ event: oneOf(...WEBHOOK_EVENTS) }),
  },
  output: one,
  status: 200,
  ...(findWebhook === undefined ? {} : { findResource: findWebhook }),
  run: async ({ db, workspace, principal }, { path, body: { event } }) => {
    const webhook = { workspaceId: workspace.id, webhookId: path.id };
    const row = await queueTest(db, webhook, event, sampleOf(event));
    if (row === undefined) throw notFound("webhook");
    return { body: { data: showTo(principal.role, "webhook_delivery", row) } };
  },
});
