import type { ReactElement } from "react";
import { read } from "../../client/api-client.ts";
import { useMembership } from "../../member/membership.ts";
import { StrangerText } from "../../parts/stranger-text.tsx";
import { ChildRecords } from "../../records/child-records.tsx";
import type { FormField } from "../../records/form-field.ts";
import { type Offer, termText } from "./offer.ts";

const CODE: FormField = {
  name: "code",
  label: "Code",
  required: true,
  hint: "Such as signup: advertisers report it as event=",
};
const FIELDS: readonly FormField[] = [
  { name: "name", label: "Name" },
  {
    name: "payout_type",
    label: "Payout",
    choices: [
      ["cpa", "Amount for each conversion"],
      ["cps", "Percent of the sale"],
    ],
  },
  { name: "payout", label: "Payout value" },
  {
    name: "revenue_type",
    label: "Revenue",
    choices: [
      ["rpa", "Amount for each conversion"],
      ["rps", "Percent of the sale"],
    ],
  },
  { name: "revenue", label: "Revenue value" },
  { name: "is_private", label: "Private: partners do not see it", kind: "flag" },
  { name: "allow_multiple", label: "Several for each click", kind: "flag" },
];

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
      fields={[CODE, ...FIELDS]}
      editFields={FIELDS}
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
