import type { ReactElement } from "react";
import { useLocation } from "wouter";
import { read } from "../../client/api-client.ts";
import { fromAddress, type Query } from "../../client/lists.ts";
import { useMembership } from "../../member/membership.ts";
import { RecordList } from "../../records/record-list.tsx";
import type { Offer } from "./offer.ts";
import { OFFER_COLUMNS } from "./offer-columns.tsx";

/** Offers of one advertiser. */
export function OffersOf({
  of,
}: {
  /** The filter that leaves only these offers. */
  readonly of: Query;
}): ReactElement {
  const { api, base } = useMembership();
  const [, go] = useLocation();
  return (
    <RecordList<Offer>
      title="Offers"
      name="offers"
      fixed={of}
      load={async (query, signal) =>
        await read(api.GET("/offers", { params: { query: fromAddress(query) }, signal }))
      }
      columns={OFFER_COLUMNS}
      keyOf={({ id }) => String(id)}
      onOpen={({ id }) => go(`${base}/offers/${id}`)}
      nothing={<strong>No offers yet</strong>}
    />
  );
}
