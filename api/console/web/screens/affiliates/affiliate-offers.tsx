import type { ReactElement } from "react";
import type { components } from "../../../../../.build/console/openapi.ts";
import { read } from "../../client/api-client.ts";
import { fromAddress } from "../../client/lists.ts";
import { statusWords } from "../../format/value-words.ts";
import { mayDo, useMembership } from "../../member/membership.ts";
import { CopyButton } from "../../parts/copy-button.tsx";
import type { Column } from "../../parts/data-table.tsx";
import { StrangerText } from "../../parts/stranger-text.tsx";
import { RecordLink } from "../../records/record-link.tsx";
import { RecordList } from "../../records/record-list.tsx";
import { termText } from "../offers/offer.ts";
import { OwnTerms } from "../rules/own-terms.tsx";
import { HoldSection } from "./hold-section.tsx";

type MayRun = components["schemas"]["AffiliateOffer"];

/** Offers that the partner may run or has asked for, and its own terms. */
export function AffiliateOffers({
  id,
  mayWrite,
}: {
  readonly id: number;
  readonly mayWrite: boolean;
}): ReactElement {
  const membership = useMembership();
  const { api } = membership;
  const path = { id: String(id) };
  const columns: readonly Column<MayRun>[] = [
    {
      name: "offer",
      title: "Offer",
      cell: (row) => (
        <RecordLink path="/offers" id={row.offer_id}>
          <StrangerText text={row.offer_name} />
        </RecordLink>
      ),
    },
    {
      name: "access",
      title: "Access",
      cell: (row) => (
        <span className={row.can_run ? "badge good" : "badge"}>
          {row.can_run ? "Approved" : statusWords(row.access_status ?? "no access")}
        </span>
      ),
    },
    {
      name: "payout",
      title: "Payout",
      isNumber: true,
      cell: (row) => termText(row.payout_type, row.payout, row.currency),
    },
    {
      name: "link",
      title: "Link",
      cell: ({ tracking_link: link }) =>
        link !== null && (
          <span className="row">
            <code className="break">{link}</code>
            <CopyButton label="Copy the link" text={link} />
          </span>
        ),
    },
  ];
  return (
    <>
      <RecordList<MayRun>
        title="Offers"
        name="affiliate-offers"
        load={async (query, signal) => {
          const params = { path, query: fromAddress(query) };
          return await read(api.GET("/affiliates/{id}/offers", { params, signal }));
        }}
        columns={columns}
        keyOf={({ offer_id: offer }) => String(offer)}
        nothing={<strong>No offers yet</strong>}
      />
      {mayDo(membership, "offers.read") && <OwnTerms partner={id} />}
      <HoldSection id={id} mayWrite={mayWrite} />
    </>
  );
}
