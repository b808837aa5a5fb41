import type { ReactElement } from "react";
import { read } from "../../client/api-client.ts";
import { useMembership } from "../../member/membership.ts";
import { StrangerText } from "../../parts/stranger-text.tsx";
import { ChildRecords } from "../../records/child-records.tsx";
import { EVENT_CODE, EVENT_FIELDS } from "./event-fields.ts";
import { type Offer, termText } from "./offer.ts";

/** What visitors may do, each with terms of its own. The default event has the terms of the offer. */
export function OfferEvents({
  offer,
  mayWrite,
}: {
  readonly offer: Offer;
  readonly mayWrite: boolean;
}): ReactElement {
  const { api } = useMembership();
  const id = String(offer.id);
  return (
    <ChildRecords
      title="Events"
      noun="an event"
      names={["offers", "offer"]}
      rows={offer.events}
      keyOf={({ code }) => code}
      show={(event) => (
        <span className="row wrap">
          <code>{event.code}</code>
          <span className="grow">
            <StrangerText text={event.name} />
          </span>
          <span>{termText(event.payout_type, event.payout, offer.currency)}</span>
        </span>
      )}
      fields={[...EVENT_CODE, ...EVENT_FIELDS]}
      editFields={EVENT_FIELDS}
      initial={{ payout_type: "cpa", revenue_type: "rpa" }}
      mayWrite={mayWrite}
      mayRemove={({ is_default: isDefault }) => !isDefault}
      create={async (body) =>
        await read(
          api.POST("/offers/{id}/events", {
            params: { path: { id } },
            body: { code: "", ...body },
          }),
        )
      }
      update={async ({ code }, body) =>
        await read(
          api.PATCH("/offers/{id}/events/{code}", { params: { path: { id, code } }, body }),
        )
      }
      remove={async ({ code }) =>
        await read(api.DELETE("/offers/{id}/events/{code}", { params: { path: { id, code } } }))
      }
    />
  );
}
