import { AD_CLICK_ID_KINDS } from "./click-query.ts";

/** In the documented order: the first one with a value wins (G119). */
export const ALIASES = {
  clickId: ["click_id", "transaction_id", "tid"],
  txid: ["txid", "adv_txid", "order_id"],
  saleAmount: ["amount", "sale_amount"],
  offer: ["offer_id", "offer"],
  affiliate: ["aff_id", "affiliate_id", "aff"],
  email: ["email", "em"],
  phone: ["phone", "ph"],
  coupon: ["coupon_code", "coupon"],
  userIp: ["ip", "user_ip"],
} as const;

/** Parameters with personal data, credentials or free text that we do not use: never stored or relayed as they are (P31). */
export const SECRET_PARAMS: readonly string[] = [
  "token",
  "idempotency_key",
  ...ALIASES.email,
  ...ALIASES.phone,
];
/** Parameters that contain a visitor's address. */
export const USER_IP_PARAMS: readonly string[] = ALIASES.userIp;

/** Free values of the advertiser, stored with the conversion. */
export const ADV_PARAMS = ["adv1", "adv2", "adv3", "adv4", "adv5"] as const;

/** Every parameter that means something in a report. Others are only shown in the inbound log. */
export const READ_PARAMS: ReadonlySet<string> = new Set([
  ...Object.values(ALIASES).flat(),
  ...AD_CLICK_ID_KINDS,
  ...ADV_PARAMS,
  ...["token", "event", "revenue", "payout", "currency", "status", "test", "js"],
  ...["conversion_id", "first_click_id", "idempotency_key"],
]);
