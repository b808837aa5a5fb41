import {
  PARTNER_POSTBACK_MACROS,
  type PostbackMacro,
  STAFF_POSTBACK_MACROS,
} from "../../schemas/macros/macro-names.ts";
import { parseTemplate } from "../../schemas/macros/template.ts";
import type { DeliveryRow } from "../deliveries/deliveries.ts";

const PARTNER_MACROS: ReadonlySet<PostbackMacro> = new Set(PARTNER_POSTBACK_MACROS);

export type DeliveredPostback = {
  readonly url: string;
  readonly body: string;
  readonly created_by_affiliate: boolean;
  readonly updated_at: string;
};

/**
 * A delivery as its partner sees it. What a postback of the staff sent may hold values that partners do not see, in the URL or,
 * echoed by the receiver, in the answer: it is left out where the postback has such a macro now, or was changed since the delivery
 * was queued, so that it may have had one. A postback that a partner made never knew such a macro (G125).
 */
export function deliveryForPartner(row: DeliveryRow, postback: DeliveredPostback): DeliveryRow {
  if (postback.created_by_affiliate) return row;
  const isAsSent = Date.parse(postback.updated_at) < Date.parse(row.created_at);
  if (isAsSent && !hasStaffMacro(postback.url) && !hasStaffMacro(postback.body)) return row;
  // The words behind the status of an answer are the receiver's too.
  const error = row.error.replace(/^(HTTP \d+).*$/s, "$1");
  return { ...row, url: "", error, response_body: "" };
}

function hasStaffMacro(text: string): boolean {
  return parseTemplate(text, STAFF_POSTBACK_MACROS).macros.some(
    (macro) => !PARTNER_MACROS.has(macro),
  );
}
