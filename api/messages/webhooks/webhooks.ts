import { randomBytes } from "node:crypto";
import { z } from "zod";
import { adminWrite } from "../../access/access-of-operations.ts";
import { flag, name, oneOf, shownTime, text } from "../../fields/body-fields.ts";
import { listOf } from "../../fields/bounded-list.ts";
import { field } from "../../fields/field.ts";
import { equals } from "../../http/filter-conditions.ts";
import { booleanParam } from "../../http/query-fields.ts";
import type { OperationAccess } from "../../operation/operation.ts";
import { manage } from "../../records/manage.ts";
import { WEBHOOK_EVENTS } from "../../records/webhook-events.ts";
import { endpointFault } from "./endpoint-url.ts";

const URL_MAX = 2_048;
/** Maximum number of webhooks in a workspace. The next one is refused with `conflict`. */
const WEBHOOKS_MAX = 50;
const SECRET_BYTES = 24;

/** Every staff key may read, unless it is restricted to permissions without `webhooks.manage` (G09). */
const webhookRead: OperationAccess = {
  roles: ["admin", "analyst"],
  needsUnrestrictedKey: "webhooks.manage",
  isWrite: false,
};
export const webhookWrite: OperationAccess = adminWrite("webhooks.manage");

export const webhooks = manage({
  resource: "webhook",
  names: { one: "Webhook", many: "Webhooks" },
  path: "/webhooks",
  table: "webhook",
  fields: {
    name: field(name(), { shown: z.string(), required: true }),
    url: field(text(URL_MAX).meta({ examples: ["https://hooks.shop.example/tracker"] }), {
      shown: z.string(),
      required: true,
    }),
    events: field(
      listOf(oneOf(...WEBHOOK_EVENTS), {
        expected: "expected a list of events",
        max: WEBHOOK_EVENTS.length,
        tooMany: `expected at most ${WEBHOOK_EVENTS.length} events`,
      })
        .min(1, "expected at least one event")
        .refine((events) => new Set(events).size === events.length, "names an event twice"),
      { shown: z.array(z.enum(WEBHOOK_EVENTS)), required: true },
    ),
    active: field(flag, { shown: z.boolean(), unset: true }),
  },
  readOnly: {
    id: z.int(),
    secret: z.string().meta({ description: "The key of the signatures" }),
    disabled_reason: z
      .string()
      .optional()
      .meta({ description: "Only for a webhook that the service has disabled" }),
    created_at: shownTime,
    updated_at: shownTime,
  },
  secret: {
    column: "secret",
    mint: mintSecret,
    operation: {
      name: "rotateWebhookSecret",
      pathEnd: "rotate-secret",
      summary: "Rotate the secret of a webhook",
      description: "The new secret signs all later requests.",
    },
  },
  recordsMax: WEBHOOKS_MAX,
  // Only a webhook that the service has disabled has the field `disabled_reason`.
  present: (_context, { disabled_reason: reason, ...fields }) =>
    reason === "" || fields["active"] === true ? fields : { ...fields, disabled_reason: reason },
  filters: {
    disabled: booleanParam.meta({
      description: "true: only webhooks that the service has disabled after failures",
    }),
  },
  conditions: { disabled: equals("(not active and disabled_reason <> '')") },
  read: webhookRead,
  write: webhookWrite,
  findFaults: ({ settings }, _values, { body }) => {
    const url = body["url"];
    const fault = typeof url === "string" ? endpointFault(url, settings) : undefined;
    return fault === undefined ? {} : { url: fault };
  },
});

/** `whsec_` and 48 hex characters (G131). */
function mintSecret(): string {
  return `whsec_${randomBytes(SECRET_BYTES).toString("hex")}`;
}
