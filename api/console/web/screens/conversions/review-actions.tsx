import { type ReactElement, useState } from "react";
import { read } from "../../client/api-client.ts";
import { useWrite } from "../../client/use-write.ts";
import { type Decided, Decision } from "../../parts/decision.tsx";
import { useMembership } from "../../session/membership.ts";

/** As many as one request may change. */
const IDS_MAX = 500;

const NAMES = ["conversions", "conversion", "conversion-history", "attention"];

type Review = { readonly status: Decided; readonly reason: string };

/** Approves or rejects conversions, in as many requests as it takes. */
export function ReviewActions({
  ids,
  onDone,
}: {
  readonly ids: readonly string[];
  readonly onDone: () => void;
}): ReactElement {
  const { api } = useMembership();
  const [decided, setDecided] = useState(0);
  const [skipped, setSkipped] = useState(0);
  const decide = useWrite(NAMES, async (to: Review) => {
    let left = 0;
    setDecided(0);
    for (let from = 0; from < ids.length; from += IDS_MAX) {
      const part = ids.slice(from, from + IDS_MAX);
      const body = {
        ids: [...part],
        status: to.status,
        ...(to.reason === "" ? {} : { reason: to.reason }),
      };
      const { data } = await read(api.PATCH("/conversions", { body }));
      left += data.skipped_duplicates + data.not_found.length;
      setDecided(from + part.length);
    }
    setSkipped(left);
    if (left === 0) onDone();
  });
  return (
    <>
      <Decision
        label="Reason"
        isSending={decide.isPending}
        error={decide.error}
        onDecide={(status, reason) => decide.mutate({ status, reason })}
      />
      {skipped > 0 && (
        <span role="status">{skipped} stay as they are: duplicates, or no longer there.</span>
      )}
      {decide.isPending && ids.length > IDS_MAX && (
        <span role="status">
          {decided} of {ids.length}
        </span>
      )}
    </>
  );
}
