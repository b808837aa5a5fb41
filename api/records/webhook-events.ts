/** Events that a webhook may subscribe to (G128, N14). */
export const WEBHOOK_EVENTS = [
  "conversion.created",
  "conversion.updated",
  "offer.created",
  "offer.updated",
  "affiliate.signup",
  "affiliate.updated",
  "access.requested",
  "access.decided",
  "invoice.created",
  "invoice.paid",
  "statement.created",
  "statement.approved",
  "affiliate.payment_method_changed",
  "payout.paid",
  "payout.failed",
] as const;
export type WebhookEvent = (typeof WEBHOOK_EVENTS)[number];
