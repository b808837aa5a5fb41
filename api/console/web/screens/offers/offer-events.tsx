import { type ReactElement, useState } from "react";
import { read } from "../../client/api-client.ts";
import { useWrite } from "../../client/use-write.ts";
import { StrangerText } from "../../parts/stranger-text.tsx";
import { type FormBody, type FormField, RecordForm } from "../../records/record-form.tsx";
import { useMembership } from "../../session/membership.ts";
import { type Offer, termText } from "./offer.ts";

const FIELDS: readonly FormField[] = [
  {
    name: "code",
    label: "Code",
    required: true,
    hint: "Such as signup: advertisers report it as event=",
  },
  { name: "name", label: "Name" },
  { name: "payout", label: "Payout" },
  { name: "revenue", label: "Revenue" },
];

/** What visitors may do, each with terms of its own. */
export function OfferEvents({
  offer,
  mayWrite,
}: {
  readonly offer: Offer;
  readonly mayWrite: boolean;
}): ReactElement {
  const { api } = useMembership();
  const [isNew, setNew] = useState(false);
  const add = useWrite(["offers", "offer"], async (body: FormBody) => {
    const params = { path: { id: String(offer.id) } };
    await read(
      api.POST("/offers/{id}/events", {
        params,
        body: { ...body, code: String(body["code"] ?? "") },
      }),
    );
    setNew(false);
  });
  return (
    <section className="stack tight">
      <h3>Events</h3>
      <ul className="plain-list">
        {offer.events.map((event) => (
          <li key={event.id} className="row wrap">
            <code>{event.code}</code>
            <span className="grow">
              <StrangerText text={event.name} />
            </span>
            <span>{termText(event.payout_type, event.payout, offer.currency)}</span>
          </li>
        ))}
      </ul>
      {mayWrite && !isNew && (
        <div className="row">
          <button type="button" className="button" onClick={() => setNew(true)}>
            Add an event
          </button>
        </div>
      )}
      {isNew && (
        <RecordForm
          fields={FIELDS}
          submit="Add the event"
          onSubmit={async (body) => await add.mutateAsync(body)}
        />
      )}
    </section>
  );
}
