import type { ReactElement } from "react";
import { destinationWarnings } from "../../../../../schemas/macros/destination-warnings.ts";
import { advertiserChoices } from "../../client/choices.ts";
import { formatInstant } from "../../format/time.ts";
import { mayDo, useMembership } from "../../member/membership.ts";
import { Facts } from "../../parts/facts.tsx";
import { linkOrNothing } from "../../parts/safe-link.tsx";
import { FieldSection } from "../../records/field-section.tsx";
import type { Save } from "../../records/form-field.ts";
import { RecordLink } from "../../records/record-link.tsx";
import { RecordName } from "../../records/record-name.tsx";
import { ShownFields } from "../../records/shown-fields.tsx";
import { RecordFigures } from "../charts/record-figures.tsx";
import type { Offer } from "./offer.ts";
import { BASICS, DETAILS } from "./offer-fields.ts";

export type OfferPart = {
  readonly offer: Offer;
  /** Undefined for those who may not change it. */
  readonly onSave: Save | undefined;
};

/** What the offer is, whose it is, and how it went lately. */
export function OfferOverview({ offer, onSave }: OfferPart): ReactElement {
  const membership = useMembership();
  return (
    <div className="columns apart">
      <FieldSection title="Basics" fields={BASICS} record={offer} onSave={onSave}>
        <Basics offer={offer} />
      </FieldSection>
      {mayDo(membership, "reports.read") && (
        <RecordFigures entity="offer" id={offer.id} currency={offer.currency} />
      )}
    </div>
  );
}

function Basics({ offer }: { readonly offer: Offer }): ReactElement {
  const membership = useMembership();
  const { advertiser_id: advertiser } = offer;
  return (
    <>
      <Facts
        facts={[
          [
            "Advertiser",
            advertiser !== undefined && mayDo(membership, "advertisers.read") ? (
              <RecordLink key="advertiser" path="/advertisers" id={advertiser}>
                <RecordName of={advertiserChoices} id={advertiser} />
              </RecordLink>
            ) : (
              ""
            ),
          ],
          ["Destination", linkOrNothing(offer.destination_url)],
          ["Check the destination", destinationWarnings(offer.destination_url ?? "").join(". ")],
        ]}
      />
      <ShownFields fields={DETAILS} record={offer} />
      <Facts
        facts={[
          ["Created", formatInstant(offer.created_at, membership.zone)],
          ["Changed", formatInstant(offer.updated_at, membership.zone)],
        ]}
      />
    </>
  );
}
