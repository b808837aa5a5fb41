import type { ReactElement } from "react";
import { useLocation } from "wouter";
import { read } from "../../client/api-client.ts";
import { useMembership } from "../../member/membership.ts";
import { useWrite } from "../../member/use-write.ts";
import { ConfirmButton } from "../../parts/confirm-button.tsx";
import { ProblemNotice } from "../../parts/problem-notice.tsx";
import { listAddress } from "../../records/list-place.tsx";
import { copyOf } from "./copy-offer.ts";
import type { Offer } from "./offer.ts";

/** What can be done with a whole offer: pause, copy, delete. */
export function OfferActions({ offer }: { readonly offer: Offer }): ReactElement {
  const { api, base } = useMembership();
  const [, go] = useLocation();
  const params = { path: { id: String(offer.id) } };
  const isActive = offer.status === "active";
  const toggle = useWrite(["offers", "offer"], async () => {
    const body = { status: isActive ? "paused" : "active" } as const;
    await read(api.PATCH("/offers/{id}", { params, body }));
  });
  const copy = useWrite(["offers"], async () => {
    const { data } = await read(api.POST("/offers", { body: copyOf(offer) }));
    go(`${base}/offers/${data.id}`);
  });
  const drop = useWrite(["offers"], async () => {
    await read(api.DELETE("/offers/{id}", { params }));
    go(listAddress(`${base}/offers`), { replace: true });
  });
  const error = toggle.error ?? copy.error ?? drop.error;
  return (
    <>
      <div className="row wrap">
        <button
          type="button"
          className="button"
          disabled={toggle.isPending}
          onClick={() => toggle.mutate(undefined)}
        >
          {isActive ? "Pause" : "Activate"}
        </button>
        <button
          type="button"
          className="button"
          disabled={copy.isPending}
          onClick={() => copy.mutate(undefined)}
        >
          Copy the offer
        </button>
        <ConfirmButton
          label="Delete"
          question="Its links stop working. Its figures stay in reports."
          isBusy={drop.isPending}
          onConfirm={() => drop.mutate(undefined)}
        />
      </div>
      {error !== null && <ProblemNotice error={error} />}
    </>
  );
}
