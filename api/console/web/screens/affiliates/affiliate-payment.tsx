import type { ReactElement } from "react";
import { useMembership } from "../../member/membership.ts";
import { hasRight } from "../../member/rights.ts";
import { FieldSection } from "../../records/field-section.tsx";
import { PaymentMethodPart } from "../payouts/payment-method.tsx";
import { TERMS } from "./affiliate-fields.ts";
import type { AffiliatePart } from "./affiliate-overview.tsx";

/** How and when the partner is paid, and where the money goes. */
export function AffiliatePayment({ partner, onSave }: AffiliatePart): ReactElement {
  const membership = useMembership();
  return (
    <div className="columns apart">
      <FieldSection title="Payment terms" fields={TERMS} record={partner} onSave={onSave} />
      {onSave !== undefined && hasRight(membership, "everything") && (
        <div className="stack">
          <PaymentMethodPart id={partner.id} />
        </div>
      )}
    </div>
  );
}
