import {
  PARTNER_POSTBACK_MACROS,
  type PostbackMacro,
  STAFF_POSTBACK_MACROS,
} from "../../../schemas/macros/macro-names.ts";
import { parseTemplate } from "../../../schemas/macros/template.ts";
import type { DeliveryRow } from "../deliveries/deliveries.ts";
import type { AttemptRow } from "../deliveries/delivery-history.ts";

const PARTNER_MACROS: ReadonlySet<PostbackMacro> = new Set(PARTNER_POSTBACK_MACROS);

export type DeliveredPostback = {
  readonly url: string;
  readonly body: string;
  readonly created_by_affiliate: boolean;
  readonly updated_at: string;
};

/**
 * A delivery as its partner sees it. A postback of the staff may have sent values that partners do not see, in the URL or, echoed
 * by the receiver, in the response. Both are left out if the postback has such a macro now, or if it was changed after the delivery
 * was queued and so may have had one. A postback that a partner created never had such a macro (G125).
 */
export function deliveryForPartner(row: DeliveryRow, postback: DeliveredPostback): DeliveryRow {
  return maySee(row, postback) ? row : withoutValues(row);
}

/** The attempts of a delivery as its partner sees them, by the rule of {@link deliveryForPartner}: their bodies are left out too. */
export function historyForPartner(
  history: readonly AttemptRow[],
  delivery: DeliveryRow,
  postback: DeliveredPostback,
): readonly AttemptRow[] {
  if (maySee(delivery, postback)) return history;
  return history.map((attempt) => ({ ...withoutValues(attempt), body: "" }));
}

function maySee({ created_at }: DeliveryRow, postback: DeliveredPostback): boolean {
  if (postback.created_by_affiliate) return true;
  const isAsSent = Date.parse(postback.updated_at) < Date.parse(created_at);
  return isAsSent && !hasStaffMacro(postback.url) && !hasStaffMacro(postback.body);
}

function withoutValues<Row extends { readonly error: string }>(row: Row): Row {
  return { ...row, url: "", error: withoutStatusText(row.error), response_body: "" };
}

/** Leaves out what follows the code of an HTTP status: it comes from the receiver. */
export function withoutStatusText(text: string): string {
  return text.replace(/(\bHTTP \d+).*$/s, "$1");
}

function hasStaffMacro(text: string): boolean {
  return parseTemplate(text, STAFF_POSTBACK_MACROS).macros.some(
    (macro) => !PARTNER_MACROS.has(macro),
  );
}
