import type { ReactElement } from "react";
import { AFFILIATE } from "../../../../../.build/console/forms.js";
import { formatInstant } from "../../format/time.ts";
import { mayDo, useMembership } from "../../member/membership.ts";
import { Facts } from "../../parts/facts.tsx";
import { FieldSection } from "../../records/field-section.tsx";
import type { Save } from "../../records/form-field.ts";
import { RecordFigures } from "../charts/record-figures.tsx";
import type { Affiliate } from "./affiliate.ts";
import { CONTACT, WORK } from "./affiliate-fields.ts";

export type AffiliatePart = {
  readonly partner: Affiliate;
  /** Undefined for those who may not change it. */
  readonly onSave: Save | undefined;
};

/** Who the partner is, who looks after it, and how it went lately. */
export function AffiliateOverview({ partner, onSave }: AffiliatePart): ReactElement {
  const membership = useMembership();
  const { zone } = membership;
  return (
    <div className="columns apart">
      <div className="stack">
        <FieldSection
          title="Basics"
          fields={[...AFFILIATE.name, ...WORK]}
          record={partner}
          onSave={onSave}
        />
        <FieldSection title="Contact" fields={CONTACT} record={partner} onSave={onSave} />
        <Facts
          facts={[
            ["Created", formatInstant(partner.created_at, zone)],
            [
              "Approved",
              partner.approved_at === null ? "" : formatInstant(partner.approved_at, zone),
            ],
            ["Changed", formatInstant(partner.updated_at, zone)],
          ]}
        />
      </div>
      {mayDo(membership, "reports.read") && (
        <RecordFigures entity="affiliate" id={partner.id} currency={partner.currency} />
      )}
    </div>
  );
}
