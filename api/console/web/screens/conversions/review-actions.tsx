import { type ReactElement, useState } from "react";
import { read } from "../../client/api-client.ts";
import { useWrite } from "../../client/use-write.ts";
import { ProblemNotice } from "../../parts/problem-notice.tsx";
import { useMembership } from "../../session/membership.ts";

/** As many as one request may change. */
const IDS_MAX = 500;

type Decision = { readonly status: "approved" | "rejected"; readonly reason: string };

/** Approves or rejects conversions, in as many requests as it takes. */
export function ReviewActions({
  ids,
  onDone,
}: {
  readonly ids: readonly string[];
  readonly onDone: () => void;
}): ReactElement {
  const { api } = useMembership();
  const [reason, setReason] = useState("");
  const [decided, setDecided] = useState(0);
  const decide = useWrite(["conversions", "conversion", "attention"], async (to: Decision) => {
    setDecided(0);
    for (let from = 0; from < ids.length; from += IDS_MAX) {
      const part = ids.slice(from, from + IDS_MAX);
      const body = {
        ids: [...part],
        status: to.status,
        ...(to.reason === "" ? {} : { reason: to.reason }),
      };
      await read(api.PATCH("/conversions", { body }));
      setDecided(from + part.length);
    }
    onDone();
  });
  return (
    <>
      <input
        className="input reason"
        aria-label="Reason"
        placeholder="Reason"
        value={reason}
        onChange={(event) => setReason(event.currentTarget.value)}
      />
      <button
        type="button"
        className="button first"
        disabled={decide.isPending}
        onClick={() => decide.mutate({ status: "approved", reason })}
      >
        Approve
      </button>
      <button
        type="button"
        className="button danger"
        disabled={decide.isPending}
        onClick={() => decide.mutate({ status: "rejected", reason })}
      >
        Reject
      </button>
      {decide.isPending && ids.length > IDS_MAX && (
        <span role="status">
          {decided} of {ids.length}
        </span>
      )}
      {decide.isError && <ProblemNotice error={decide.error} />}
    </>
  );
}
