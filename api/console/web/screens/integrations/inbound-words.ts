import type { CallResult } from "../../../../../schemas/events/inbound-call.ts";
import type { Choice } from "../../client/choices.ts";
import { reasonWords, statusWords } from "../../format/value-words.ts";

/** Results of inbound calls. The compiler asks for each that is added. */
const RESULTS: Readonly<Record<CallResult, string>> = {
  approved: "Approved",
  pending: "Pending",
  rejected: "Rejected",
  duplicate: "Duplicate",
  updated: "Updated",
  forwarded: "Forwarded",
  test: "Test",
  invalid_token: "Invalid token",
  token_required: "Token required",
  advertiser_inactive: "Advertiser inactive",
  unknown_click: "Unknown click",
  unknown_conversion: "Unknown conversion",
  unknown_offer: "Unknown offer",
  coupon_error: "Coupon error",
  ip_not_allowed: "Address not allowed",
  malformed: "Malformed",
  method_not_allowed: "Method not allowed",
  rate_limited: "Too many calls",
  unavailable: "Unavailable",
  error: "Error",
  param: "Click by its ID",
  gclid: "Click by gclid",
  gbraid: "Click by gbraid",
  wbraid: "Click by wbraid",
  organic: "Organic click",
  direct: "Direct click",
  unknown_link: "Unknown link",
  unknown_path: "Unknown path",
};
const WORDS: ReadonlyMap<string, string> = new Map(Object.entries(RESULTS));

export const RESULT_CHOICES: readonly Choice[] = Object.entries(RESULTS);

/** The result of a call in words. A result that a newer release adds keeps its own name. */
export function resultWords(result: string): string {
  return WORDS.get(result) ?? statusWords(result);
}

/** A message that is a code of the service, such as `postback_update` or a reason of a conversion, in words; any other as it is. */
export function messageWords(message: string): string {
  const reason = reasonWords(message);
  if (reason !== message) return reason;
  return /^[a-z]+(_[a-z]+)*$/.test(message) ? statusWords(message) : message;
}
