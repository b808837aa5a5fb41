/**
 * Events that a webhook may subscribe to (G128). `affiliate.signup` is never sent yet, because partners cannot sign up through the
 * API (G129).
 */
export const WEBHOOK_EVENTS = [
  "conversion.created",
  "conversion.updated",
  "offer.created",
  "offer.updated",
  "affiliate.signup",
  "affiliate.updated",
  "access.requested",
  "access.decided",
] as const;
export type WebhookEvent = (typeof WEBHOOK_EVENTS)[number];
