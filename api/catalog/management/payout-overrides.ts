import { z } from "zod";
import { ALL_EVENTS } from "../../../schemas/catalog/own-terms.ts";
import { adminWrite, staff } from "../../access/access-of-operations.ts";
import { money, oneOf, recordId, shownMoney, shownTime } from "../../fields/body-fields.ts";
import { eventCode } from "../../fields/catalog-fields.ts";
import { field } from "../../fields/field.ts";
import { idParam } from "../../http/query-fields.ts";
import type { FieldFaults, OperationContext } from "../../operation/operation.ts";
import { manage } from "../../records/manage.ts";
import { percentFaults } from "../offers/offer-faults.ts";
import { findOfferTerms } from "../offers/offers.ts";

const PAYOUT_TYPES = ["cpa", "cps"] as const;
const REVENUE_TYPES = ["rpa", "rps"] as const;
const overriddenCode = z.union([z.literal(ALL_EVENTS), eventCode]);

/**
 * A partner's own terms on the default event of an offer, on another event, or with `*` on all events of the same type (G46, G199).
 * A payout or revenue that is null keeps the terms of the event.
 */
export const payoutOverrides = manage({
  resource: "payout_override",
  names: { one: "PayoutOverride", many: "PayoutOverrides" },
  path: "/payout-overrides",
  table: "payout_override",
  fields: {
    offer_id: field(recordId, { shown: z.int(), required: true }),
    affiliate_id: field(recordId, { shown: z.int(), required: true }),
    event_code: field(overriddenCode.nullable(), { shown: z.string().nullable(), unset: null }),
    payout_type: field(oneOf(...PAYOUT_TYPES).nullable(), {
      shown: z.enum(PAYOUT_TYPES).nullable(),
      unset: null,
    }),
    payout: field(money.nullable(), { shown: shownMoney.nullable(), unset: null }),
    revenue_type: field(oneOf(...REVENUE_TYPES).nullable(), {
      shown: z.enum(REVENUE_TYPES).nullable(),
      unset: null,
    }),
    revenue: field(money.nullable(), { shown: shownMoney.nullable(), unset: null }),
  },
  readOnly: { id: z.int(), created_at: shownTime, updated_at: shownTime },
  filters: { offer_id: idParam, affiliate_id: idParam },
  read: staff("offers.read"),
  write: adminWrite("offers.write"),
  references: { offer_id: "offer", affiliate_id: "affiliate" },
  taken: { payout_override_offer_id_affiliate_id_event_code_key: "event_code" },
  findFaults: async (context, values) => ({
    ...sideFaults(values),
    ...percentFaults(values),
    ...(await termFaults(context, values)),
  }),
});

/** A payout, a revenue or both must be set, each with its type and amount. */
function sideFaults(values: Readonly<Record<string, unknown>>): FieldFaults {
  const faults: Record<string, string> = {};
  const set = (["payout", "revenue"] as const).filter((side) => {
    const hasType = isSet(values[`${side}_type`]);
    const hasAmount = isSet(values[side]);
    if (hasType && !hasAmount) faults[side] = `required with ${side}_type`;
    if (!hasType && hasAmount) faults[`${side}_type`] = `required with ${side}`;
    return hasType || hasAmount;
  });
  return set.length === 0 ? { payout_type: "expected a payout, a revenue or both" } : faults;
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** Checks against the offer: an offer paid per click has no overrides, and the event must be one of its events. */
async function termFaults(
  { db, workspace }: OperationContext,
  values: Readonly<Record<string, unknown>>,
): Promise<FieldFaults> {
  const offerId = recordId.safeParse(values["offer_id"]);
  if (!offerId.success) return {};
  const offer = await findOfferTerms(db, workspace.id, offerId.data);
  if (offer === undefined) return {};
  const faults: Record<string, string> = {};
  if (offer.payout_type === "cpc" || offer.revenue_type === "rpc")
    faults["offer_id"] = "an offer paid per click (cpc or rpc) cannot have overrides";
  const { event_code: code } = values;
  if (typeof code === "string" && code !== ALL_EVENTS && !offer.event_codes.includes(code))
    faults["event_code"] = "the offer has no event with this code";
  return faults;
}
