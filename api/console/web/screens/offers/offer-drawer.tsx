import { type ReactElement, useState } from "react";
import { Link } from "wouter";
import { read } from "../../client/api-client.ts";
import { useRecord } from "../../client/records.ts";
import { useWrite } from "../../client/use-write.ts";
import { Drawer } from "../../parts/drawer.tsx";
import { Facts } from "../../parts/facts.tsx";
import { ProblemNotice } from "../../parts/problem-notice.tsx";
import { SafeLink } from "../../parts/safe-link.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { type FormBody, RecordForm } from "../../records/record-form.tsx";
import { useMembership } from "../../session/membership.ts";
import { CapMeters } from "./cap-meters.tsx";
import { type Offer, termText } from "./offer.ts";
import { OfferEvents } from "./offer-events.tsx";
import { OFFER_FIELDS } from "./offer-fields.ts";

const HEIGHT = 320;

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
  const [isEditing, setEditing] = useState(false);
  const params = { path: { id: String(id) } };
  const record = useRecord(membership, {
    name: "offer",
    id,
    load: async (signal) => (await read(api.GET("/offers/{id}", { params, signal }))).data,
  });
  const save = useWrite(["offers", "offer"], async (body: FormBody) => {
    await read(api.PATCH("/offers/{id}", { params, body }));
    setEditing(false);
  });
  const offer = record.data;
  return (
    <Drawer title={offer?.name ?? "Offer"} onClose={onClose}>
      {record.isError && <ProblemNotice error={record.error} />}
      {offer === undefined && !record.isError && <Skeleton height={HEIGHT} />}
      {offer !== undefined && isEditing && (
        <RecordForm
          fields={OFFER_FIELDS}
          initial={initialOf(offer)}
          submit="Save"
          onSubmit={async (body) => await save.mutateAsync(body)}
        />
      )}
      {offer !== undefined && !isEditing && (
        <>
          <OfferFacts offer={offer} />
          {mayWrite && (
            <div className="row">
              <button type="button" className="button" onClick={() => setEditing(true)}>
                Edit
              </button>
            </div>
          )}
          <OfferEvents offer={offer} mayWrite={mayWrite} />
          <CapMeters query={{ offer_id: String(id) }} />
        </>
      )}
    </Drawer>
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

function initialOf(offer: Offer): Readonly<Record<string, string | number | readonly string[]>> {
  const { name, status, visibility, tags, description, restrictions } = offer;
  return {
    name,
    status,
    visibility,
    tags,
    description,
    restrictions,
    destination_url: offer.destination_url ?? "",
    fallback_url: offer.fallback_url ?? "",
    payout_type: offer.payout_type ?? "cpa",
    payout: offer.payout ?? "",
    revenue_type: offer.revenue_type ?? "rpa",
    revenue: offer.revenue ?? "",
    attribution_days: offer.attribution_days,
  };
}
