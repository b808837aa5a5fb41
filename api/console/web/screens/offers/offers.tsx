import { Plus } from "lucide-react";
import type { ReactElement } from "react";
import { useLocation } from "wouter";
import { OFFER } from "../../../../../.build/console/forms.js";
import { read } from "../../client/api-client.ts";
import { fromAddress } from "../../client/lists.ts";
import { ImportButton } from "../../imports/import-button.tsx";
import { mayDo, useMembership } from "../../member/membership.ts";
import type { ListFilter } from "../../records/list-filters.tsx";
import { ListPlace } from "../../records/list-place.tsx";
import { RecordList } from "../../records/record-list.tsx";
import { RankingLink } from "../charts/ranking-link.tsx";
import type { Offer } from "./offer.ts";
import { OFFER_COLUMNS } from "./offer-columns.tsx";

const FILTERS: readonly ListFilter[] = [
  { name: "q", label: "Name or code" },
  ...OFFER.status,
  {
    name: "visibility",
    label: "Visibility",
    choices: [
      ["public", "Public"],
      ["approval", "By approval"],
      ["private", "Private"],
    ],
  },
];

/** All offers. */
export function Offers(): ReactElement {
  const membership = useMembership();
  const { api, base, role } = membership;
  const [, go] = useLocation();
  const mayWrite = role === "admin" && mayDo(membership, "offers.write");
  return (
    <ListPlace path="/offers">
      <h1>Offers</h1>
      <RecordList<Offer>
        title="Offers"
        isTitled={false}
        name="offers"
        filters={FILTERS}
        load={async (query, signal) =>
          await read(api.GET("/offers", { params: { query: fromAddress(query) }, signal }))
        }
        columns={OFFER_COLUMNS}
        keyOf={({ id }) => String(id)}
        onOpen={({ id }) => go(`${base}/offers/${id}`)}
        nothing={
          <>
            <strong>No offers yet</strong>
            <p className="muted">An offer belongs to an advertiser. Create the advertiser first.</p>
          </>
        }
        actions={
          <>
            <RankingLink entity="offer" by="revenue" />
            {mayWrite && (
              <>
                <ImportButton kind="offers" />
                <button
                  type="button"
                  className="button first"
                  onClick={() => go(`${base}/offers/new`)}
                >
                  <Plus size={14} aria-hidden /> New offer
                </button>
              </>
            )}
          </>
        }
      />
    </ListPlace>
  );
}
