import type { ReactElement } from "react";
import { Link } from "wouter";
import { destinationWarnings } from "../../../../../schemas/macros/destination-warnings.ts";
import { read } from "../../client/api-client.ts";
import { useRecord } from "../../client/records.ts";
import { useMembership } from "../../member/membership.ts";
import { useWrite } from "../../member/use-write.ts";
import { Facts } from "../../parts/facts.tsx";
import { linkOrNothing } from "../../parts/safe-link.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import type { RecordBody } from "../../records/form-field.ts";
import { RecordDrawer } from "../../records/record-drawer.tsx";
import { ShownFields } from "../../records/shown-fields.tsx";
import { RecordFigures } from "../charts/record-figures.tsx";
import { CapMeters } from "./cap-meters.tsx";
import { type Offer, termText } from "./offer.ts";
import { OfferAccess } from "./offer-access.tsx";
import { OfferActions } from "./offer-actions.tsx";
import { OfferCreatives } from "./offer-creatives.tsx";
import { OfferEvents } from "./offer-events.tsx";
import { ALL_FIELDS, RULE_FIELDS } from "./offer-fields.ts";
import { OfferSettingsSection } from "./offer-settings.tsx";

/** One offer: terms, events, caps and how to change them. */
export function OfferDrawer({
  id,
  mayWrite,
  onClose,
  onOpen,
}: {
  readonly id: number;
  readonly mayWrite: boolean;
  readonly onClose: () => void;
  /** Shows another offer, such as a copy. */
  readonly onOpen: (id: number) => void;
}): ReactElement {
  const membership = useMembership();
  const { api } = membership;
  const params = { path: { id: String(id) } };
  const record = useRecord(membership, {
    name: "offer",
    id,
    load: async (signal) => (await read(api.GET("/offers/{id}", { params, signal }))).data,
  });
  const save = useWrite(["offers", "offer"], async (body: RecordBody) => {
    await read(api.PATCH("/offers/{id}", { params, body }));
  });
  return (
    <RecordDrawer
      noun="Offer"
      record={record}
      fields={ALL_FIELDS}
      onSave={mayWrite ? save.mutateAsync : undefined}
      onClose={onClose}
    >
      {(offer) => [
        <OfferFacts key="facts" offer={offer} />,
        mayWrite && <OfferActions key="actions" offer={offer} onGone={onClose} onMade={onOpen} />,
        <RecordFigures key="figures" entity="offer" id={id} />,
        <ShownFields key="rules" fields={RULE_FIELDS} record={offer} />,
        <CapMeters key="caps" query={{ offer_id: String(id) }} />,
        <OfferEvents key="events" offer={offer} mayWrite={mayWrite} />,
        <OfferAccess key="access" id={id} mayWrite={mayWrite} />,
        <OfferCreatives key="creatives" id={id} mayWrite={mayWrite} />,
        <OfferSettingsSection
          key="settings"
          id={id}
          hasSeveralEvents={offer.events.length > 1}
          mayWrite={mayWrite}
        />,
      ]}
    </RecordDrawer>
  );
}

function OfferFacts({ offer }: { readonly offer: Offer }): ReactElement {
  const { base } = useMembership();
  const query = new URLSearchParams({
    preset: "last30",
    group_by: "affiliate",
    filters: `offer:in:${offer.id}`,
  });
  return (
    <Facts
      facts={[
        ["Code", <code key="code">{offer.code}</code>],
        ["Status", <StatusBadge key="status" status={offer.status} />],
        ["Visibility", offer.visibility],
        ["Payout", termText(offer.payout_type, offer.payout, offer.currency)],
        ["Revenue", termText(offer.revenue_type, offer.revenue, offer.currency)],
        ["Destination", linkOrNothing(offer.destination_url)],
        ["Check the destination", destinationWarnings(offer.destination_url ?? "").join(". ")],
        ["Fallback", linkOrNothing(offer.fallback_url)],
        ["Description", offer.description],
        ["Restrictions", offer.restrictions],
        [
          "Figures",
          <Link key="report" href={`${base}/reports?${query.toString()}`}>
            Report of the last 30 days by partner
          </Link>,
        ],
      ]}
    />
  );
}
