import type { ReactElement } from "react";
import { FieldSection } from "../../records/field-section.tsx";
import { ACCOUNT, PAYMENT } from "./affiliate-fields.ts";
import type { AffiliatePart } from "./affiliate-overview.tsx";

/** How and when the partner is paid, and where the money goes. */
export function AffiliatePayment({ partner, onSave }: AffiliatePart): ReactElement {
  return (
    <div className="columns apart">
      <FieldSection title="Payment terms" fields={PAYMENT} record={partner} onSave={onSave} />
      {partner.payment_details !== undefined && (
        <FieldSection title="Account" fields={[ACCOUNT]} record={partner} onSave={onSave} />
      )}
    </div>
  );
}
