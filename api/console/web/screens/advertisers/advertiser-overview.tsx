import type { ReactElement } from "react";
import { mayDo, useMembership } from "../../member/membership.ts";
import { FieldSection } from "../../records/field-section.tsx";
import type { Save } from "../../records/form-field.ts";
import { RecordFigures } from "../charts/record-figures.tsx";
import type { Advertiser } from "./advertiser.ts";
import { BASICS, BILLING, CONTACT } from "./advertiser-fields.ts";
import { BudgetSection } from "./budget-section.tsx";

/** Who the advertiser is, what it may spend, and how it went lately. */
export function AdvertiserOverview({
  advertiser,
  onSave,
}: {
  readonly advertiser: Advertiser;
  /** Undefined for those who may not change it. */
  readonly onSave: Save | undefined;
}): ReactElement {
  const membership = useMembership();
  const { id, currency } = advertiser;
  return (
    <div className="columns apart">
      <div className="stack">
        <FieldSection title="Basics" fields={BASICS} record={advertiser} onSave={onSave} />
        <FieldSection title="Billing" fields={BILLING} record={advertiser} onSave={onSave} />
        <FieldSection title="Contact" fields={CONTACT} record={advertiser} onSave={onSave} />
      </div>
      <div className="stack">
        {mayDo(membership, "reports.read") && (
          <RecordFigures entity="advertiser" id={id} currency={currency} />
        )}
        <BudgetSection id={id} mayWrite={onSave !== undefined} />
      </div>
    </div>
  );
}
