import type { ReactElement } from "react";
import { read } from "../../client/api-client.ts";
import { useRecord } from "../../client/records.ts";
import { useMembership } from "../../member/membership.ts";
import { StrangerText } from "../../parts/stranger-text.tsx";
import type { Offer } from "../offers/offer.ts";

type Access = NonNullable<Offer["access_status"]>;

/** What the network says about its decision on the partner's request. Nothing where nothing was asked or said. */
export function AccessReply({ offer }: { readonly offer: Offer }): ReactElement | null {
  const { id, access_status: access } = offer;
  return access === undefined || access === null ? null : <Reply id={id} access={access} />;
}

function Reply({
  id,
  access,
}: {
  readonly id: number;
  readonly access: Access;
}): ReactElement | null {
  const membership = useMembership();
  const params = { path: { id: String(id) } };
  const form = useRecord(membership, {
    name: "access-form",
    // A new decision has a new message.
    id: `${id} ${access}`,
    load: async (signal) =>
      (await read(membership.api.GET("/offers/{id}/access-request", { params, signal }))).data,
  });
  const reply = form.data?.request?.reply ?? "";
  if (reply === "") return null;
  return (
    <section
      className={access === "rejected" ? "notice warn" : "notice"}
      aria-label="Message about your request"
    >
      <div className="stack tight break">
        <strong>{WORDS[access]}</strong>
        <StrangerText text={reply} />
      </div>
    </section>
  );
}

const WORDS = {
  approved: "Your request was approved",
  rejected: "Your request was rejected",
  pending: "Your request is being reviewed",
} as const;
