import type { ReactElement } from "react";
import { Link } from "wouter";
import type { components } from "../../../../../.build/console/openapi.ts";
import { read } from "../../client/api-client.ts";
import { useRecord } from "../../client/records.ts";
import { formatInstant } from "../../format/time.ts";
import { useMembership } from "../../member/membership.ts";
import { useWrite } from "../../member/use-write.ts";
import { Facts } from "../../parts/facts.tsx";
import { ProblemNotice } from "../../parts/problem-notice.tsx";
import { linkOrNothing } from "../../parts/safe-link.tsx";
import { StatusBadge, statusWords } from "../../parts/status-badge.tsx";
import { StrangerText } from "../../parts/stranger-text.tsx";
import { RecordDrawer } from "../../records/record-drawer.tsx";
import type { FormBody } from "../../records/record-form.tsx";
import { RecordFigures } from "../charts/record-figures.tsx";
import { AFFILIATE_FIELDS } from "./affiliate-fields.ts";
import { HoldSection } from "./hold-section.tsx";
import { OwnTermsOf } from "./own-terms-of.tsx";

type Affiliate = components["schemas"]["Affiliate"];

/** One partner: contact, offers that it may run, and how to change it. */
export function AffiliateDrawer({
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
    name: "affiliate",
    id,
    load: async (signal) => (await read(api.GET("/affiliates/{id}", { params, signal }))).data,
  });
  const save = useWrite(["affiliates", "affiliate"], async (body: FormBody) => {
    await read(api.PATCH("/affiliates/{id}", { params, body }));
  });
  return (
    <RecordDrawer
      noun="Partner"
      record={record}
      fields={AFFILIATE_FIELDS}
      onSave={mayWrite ? save.mutateAsync : undefined}
      onClose={onClose}
    >
      {(partner) => [
        <AffiliateFacts key="facts" partner={partner} />,
        <RecordFigures key="figures" entity="affiliate" id={id} />,
        <HoldSection key="hold" id={id} mayWrite={mayWrite} />,
        <MayRun key="offers" id={id} />,
        <OwnTermsOf key="terms" id={id} />,
      ]}
    </RecordDrawer>
  );
}

function AffiliateFacts({ partner }: { readonly partner: Affiliate }): ReactElement {
  const { base, zone } = useMembership();
  const query = new URLSearchParams({
    preset: "last30",
    group_by: "offer",
    filters: `affiliate:in:${partner.id}`,
  });
  return (
    <Facts
      facts={[
        ["Code", <code key="code">{partner.code}</code>],
        ["Status", <StatusBadge key="status" status={partner.status} />],
        ["E-mail", partner.email],
        ["Company", partner.company],
        ["Contact", partner.contact_name],
        ["Website", linkOrNothing(partner.website)],
        ["Traffic", partner.traffic_sources],
        ["Notes", partner.notes],
        ["Since", formatInstant(partner.created_at, zone)],
        [
          "Figures",
          <Link key="report" href={`${base}/reports?${query.toString()}`}>
            Report of the last 30 days by offer
          </Link>,
        ],
      ]}
    />
  );
}

/** Offers that the partner may run, or has asked for. */
function MayRun({ id }: { readonly id: number }): ReactElement {
  const membership = useMembership();
  const { api } = membership;
  const offers = useRecord(membership, {
    name: "affiliate-offers",
    id,
    load: async (signal) =>
      (
        await read(
          api.GET("/affiliates/{id}/offers", { params: { path: { id: String(id) } }, signal }),
        )
      ).data,
  });
  return (
    <section className="stack tight">
      <h3>Offers</h3>
      {offers.isError && <ProblemNotice error={offers.error} />}
      <ul className="plain-list">
        {offers.data?.map((offer) => (
          <li key={offer.offer_id} className="row">
            <span className="grow">
              <StrangerText text={offer.offer_name} />
            </span>
            <span className={offer.can_run ? "badge good" : "badge"}>
              {offer.can_run ? "Approved" : statusWords(offer.access_status ?? "no access")}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
