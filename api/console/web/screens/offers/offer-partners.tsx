import type { ReactElement } from "react";
import { OFFER } from "../../../../../.build/console/forms.js";
import { mayDo, useMembership } from "../../member/membership.ts";
import { FieldSection } from "../../records/field-section.tsx";
import { OfferAccess } from "./offer-access.tsx";
import type { OfferPart } from "./offer-overview.tsx";
import { OfferSettingsSection } from "./offer-settings.tsx";

/** Which partners may run the offer, and how they come to it. */
export function OfferPartners({ offer, onSave }: OfferPart): ReactElement {
  const membership = useMembership();
  const mayDecide =
    onSave !== undefined || (membership.role === "admin" && mayDo(membership, "affiliates.write"));
  return (
    <div className="columns apart">
      <OfferAccess id={offer.id} mayWrite={mayDecide} />
      <FieldSection title="Visibility" fields={OFFER.access} record={offer} onSave={onSave} />
      <OfferSettingsSection id={offer.id} part="access" mayWrite={onSave !== undefined} />
    </div>
  );
}
