/** Events that a webhook may subscribe to (G128). */
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
