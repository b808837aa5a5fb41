import type { ReactElement } from "react";
import { FieldSection } from "../../records/field-section.tsx";
import { isEmpty } from "../../records/form-draft.ts";
import { ShownFields } from "../../records/shown-fields.tsx";
import { CapMeters } from "./cap-meters.tsx";
import { CAPS, TARGETING } from "./offer-fields.ts";
import type { OfferPart } from "./offer-overview.tsx";
import { OfferSettingsSection } from "./offer-settings.tsx";

/** The caps of the offer with what is used of each. */
export function OfferCaps({ offer, onSave }: OfferPart): ReactElement {
  const { caps } = offer;
  return (
    <FieldSection title="Caps" fields={[CAPS]} record={offer} onSave={onSave}>
      <CapMeters
        query={{ offer_id: String(offer.id) }}
        title="Used"
        none={<p className="muted">No caps: every accepted click and conversion counts.</p>}
      />
      {caps?.["alert_only"] === true && (
        <p className="muted">Alert only: nothing is refused when a cap is reached.</p>
      )}
    </FieldSection>
  );
}

/** Which visitors are accepted, and where the others go. */
export function OfferTargeting({ offer, onSave }: OfferPart): ReactElement {
  return (
    <div className="columns apart">
      <FieldSection
        title="Targeting"
        fields={[{ ...TARGETING, isFolded: false }]}
        record={offer}
        onSave={onSave}
      >
        {isEmpty(offer.targeting) ? (
          <p className="muted">Visitors of every country and device are accepted.</p>
        ) : (
          <ShownFields fields={TARGETING.fields ?? []} record={offer.targeting} />
        )}
      </FieldSection>
      <OfferSettingsSection id={offer.id} part="visitors" mayWrite={onSave !== undefined} />
    </div>
  );
}
