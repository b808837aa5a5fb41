import type { ReactElement } from "react";
import { OFFER } from "../../../../../.build/console/forms.js";
import { Facts } from "../../parts/facts.tsx";
import { FieldSection } from "../../records/field-section.tsx";
import { termText } from "./offer.ts";
import { OfferEvents } from "./offer-events.tsx";
import { CURRENCY, MONEY } from "./offer-fields.ts";
import type { OfferPart } from "./offer-overview.tsx";
import { OfferSettingsSection } from "./offer-settings.tsx";

/** What is paid, for what, and which conversions count. */
export function OfferTerms({ offer, onSave }: OfferPart): ReactElement {
  const mayWrite = onSave !== undefined;
  const { currency } = offer;
  return (
    <div className="columns apart">
      <FieldSection title="Money" fields={[...MONEY, CURRENCY]} record={offer} onSave={onSave}>
        <Facts
          facts={[
            ["Payout", termText(offer.payout_type, offer.payout, currency)],
            ["Paid for", wordsOf("payout_type", offer.payout_type)],
            ["Revenue", termText(offer.revenue_type, offer.revenue, currency)],
            ["Received for", wordsOf("revenue_type", offer.revenue_type)],
            ["Currency", currency],
          ]}
        />
      </FieldSection>
      <OfferEvents offer={offer} mayWrite={mayWrite} />
      <FieldSection title="Conversions" fields={OFFER.counting} record={offer} onSave={onSave} />
      <OfferSettingsSection
        id={offer.id}
        part={offer.events.length > 1 ? "checksOfEvents" : "checks"}
        mayWrite={mayWrite}
      />
    </div>
  );
}

function wordsOf(name: string, value: string | undefined): string {
  const choices = MONEY.find((field) => field.name === name)?.choices ?? [];
  return choices.find(([one]) => one === value)?.[1] ?? "";
}
