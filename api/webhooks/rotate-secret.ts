import { z } from "zod";
import { showTo } from "../access/visibility.ts";
import { notFound } from "../errors.ts";
import { type Operation, operation } from "../operation.ts";
import { pathId } from "../rest/path-fields.ts";
import { presentWebhook, rotateSecretOf, webhooks, webhookWrite } from "./webhooks.ts";

export const rotateWebhookSecret: Operation = operation({
  name: "rotateWebhookSecret",
  method: "POST",
  path: "/webhooks/{id}/rotate-secret",
  tag: "Management",
  summary: "Give a webhook a new secret; what is sent from now on is signed with it",
  access: webhookWrite,
  input: { path: z.object({ id: pathId }) },
  output: z.object({ data: webhooks.Shown }),
  status: 200,
  run: async ({ db, workspace, principal }, { path }) => {
    const row = await rotateSecretOf(db, workspace.id, path.id);
    if (row === undefined) throw notFound("webhook");
    return { body: { data: showTo(principal.role, "webhook", presentWebhook(row)) } };
  },
});
