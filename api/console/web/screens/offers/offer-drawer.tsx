import type { ReactElement } from "react";
import { Link } from "wouter";
import { read } from "../../client/api-client.ts";
import { useRecord } from "../../client/records.ts";
import { useWrite } from "../../client/use-write.ts";
import { Facts } from "../../parts/facts.tsx";
import { SafeLink } from "../../parts/safe-link.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { RecordDrawer } from "../../records/record-drawer.tsx";
import type { FormBody } from "../../records/record-form.tsx";
import { useMembership } from "../../session/membership.ts";
import { CapMeters } from "./cap-meters.tsx";
import { type Offer, termText } from "./offer.ts";
import { OfferEvents } from "./offer-events.tsx";
import { OFFER_FIELDS } from "./offer-fields.ts";

/** One offer: terms, events, caps and how to change them. */
export function OfferDrawer({
  id,
  mayWrite,
  onClose,
}: {
  readonly id: number;
  readonly mayWrite: boolean;
  readonly onClose: () => void;
}): ReactElement {
  const membership = useMembership();
  const { api } = membership;
  const params = { path: { id: String(id) } };
  const record = useRecord(membership, {
    name: "offer",
    id,
    load: async (signal) => (await read(api.GET("/offers/{id}", { params, signal }))).data,
  });
  const save = useWrite(["offers", "offer"], async (body: FormBody) => {
    await read(api.PATCH("/offers/{id}", { params, body }));
  });
  return (
    <RecordDrawer
      noun="Offer"
      record={record}
      fields={OFFER_FIELDS}
      onSave={mayWrite ? save.mutateAsync : undefined}
      onClose={onClose}
    >
      {(offer) => [
        <OfferFacts key="facts" offer={offer} />,
        <OfferEvents key="events" offer={offer} mayWrite={mayWrite} />,
        <CapMeters key="caps" query={{ offer_id: String(id) }} />,
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
        ["Destination", <SafeLink key="to" href={offer.destination_url ?? ""} />],
        ["Fallback", <SafeLink key="fallback" href={offer.fallback_url ?? ""} />],
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
