/** What a webhook may subscribe to (G128). Nothing fires `affiliate.signup` yet: partners do not sign up over the API (G129). */
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
