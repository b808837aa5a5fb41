import { type ReactElement, useState } from "react";
import { read } from "../../client/api-client.ts";
import { affiliateChoices } from "../../client/choices.ts";
import { useRecord } from "../../client/records.ts";
import { useMembership } from "../../member/membership.ts";
import { useWrite } from "../../member/use-write.ts";
import { ProblemNotice } from "../../parts/problem-notice.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { StrangerText } from "../../parts/stranger-text.tsx";
import { RecordChoice } from "../../records/record-choice.tsx";
import { RecordLink } from "../../records/record-link.tsx";

const SHOWN_MAX = 200;

type Decision = { readonly affiliate: string; readonly status: "approved" | "rejected" };

/** Which partners may run the offer, and giving or taking that right. */
export function OfferAccess({
  id,
  mayWrite,
}: {
  readonly id: number;
  readonly mayWrite: boolean;
}): ReactElement {
  const membership = useMembership();
  const { api } = membership;
  const [partner, setPartner] = useState("");
  const access = useRecord(membership, {
    name: "offer-access",
    id,
    load: async (signal) => {
      const params = { path: { id: String(id) }, query: { limit: SHOWN_MAX } };
      return await read(api.GET("/offers/{id}/affiliates", { params, signal }));
    },
  });
  const decide = useWrite(
    ["offer-access", "access-requests", "attention", "affiliate-offers"],
    async ({ affiliate, status }: Decision) => {
      const params = { path: { id: String(id), affiliate } };
      await read(api.PUT("/offers/{id}/affiliates/{affiliate}", { params, body: { status } }));
      setPartner("");
    },
  );
  return (
    <section className="panel stack">
      <h2>Access of partners</h2>
      {access.isError && <ProblemNotice error={access.error} />}
      {access.data?.data.length === 0 && <p className="muted">No access decisions yet.</p>}
      <ul className="plain-list">
        {access.data?.data.map((row) => (
          <li key={row.affiliate_id} className="row wrap">
            <span className="grow">
              <RecordLink path="/partners" id={row.affiliate_id}>
                <StrangerText text={row.affiliate_name} />
              </RecordLink>
            </span>
            <StatusBadge status={row.status} />
            {mayWrite && (
              <DecisionButtons
                name={row.affiliate_name}
                status={row.status}
                isBusy={decide.isPending}
                onDecide={(status) => decide.mutate({ affiliate: row.affiliate_code, status })}
              />
            )}
          </li>
        ))}
      </ul>
      {access.data?.next_cursor !== null && access.data !== undefined && (
        <p className="muted">Only the first {SHOWN_MAX} are shown.</p>
      )}
      {mayWrite && (
        <div className="row wrap">
          <div className="grow">
            <RecordChoice
              label="Partner to give access"
              load={affiliateChoices}
              value={partner}
              onChange={setPartner}
            />
          </div>
          <button
            type="button"
            className="button"
            disabled={partner === "" || decide.isPending}
            onClick={() => decide.mutate({ affiliate: partner, status: "approved" })}
          >
            Give access
          </button>
        </div>
      )}
      {decide.isError && <ProblemNotice error={decide.error} />}
    </section>
  );
}

function DecisionButtons({
  name,
  status,
  isBusy,
  onDecide,
}: {
  readonly name: string;
  readonly status: string;
  readonly isBusy: boolean;
  readonly onDecide: (status: Decision["status"]) => void;
}): ReactElement {
  return (
    <>
      {status !== "approved" && (
        <button
          type="button"
          className="button"
          aria-label={`Approve ${name}`}
          disabled={isBusy}
          onClick={() => onDecide("approved")}
        >
          Approve
        </button>
      )}
      {status !== "rejected" && (
        <button
          type="button"
          className="button"
          aria-label={`Take access from ${name}`}
          disabled={isBusy}
          onClick={() => onDecide("rejected")}
        >
          {status === "pending" ? "Reject" : "Revoke"}
        </button>
      )}
    </>
  );
}
