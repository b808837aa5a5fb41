import { type ReactElement, useState } from "react";
import { read } from "../../client/api-client.ts";
import { formatCount } from "../../format/figure.ts";
import { useMembership } from "../../member/membership.ts";
import { useWriteOnce } from "../../member/use-write.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { ProblemNotice } from "../../parts/problem-notice.tsx";
import { StrangerText } from "../../parts/stranger-text.tsx";
import type { ChosenRows } from "../../records/record-list.tsx";
import { STATEMENT_NAMES, type Statement } from "./statement.ts";
import { sumsText } from "./sums.ts";

/** As many as one request may approve. */
const IDS_MAX = 500;

/** Approves chosen drafts. The question names how many there are and what they come to. */
export function ApproveChosen({
  rows,
  chosen,
}: {
  readonly rows: readonly Statement[];
  readonly chosen: ChosenRows;
}): ReactElement {
  const [isAsking, setAsking] = useState(false);
  const drafts = rows.filter(({ status }) => status === "draft");
  return (
    <>
      <button
        type="button"
        className="button first"
        disabled={drafts.length === 0}
        onClick={() => setAsking(true)}
      >
        Approve
      </button>
      {drafts.length < rows.length && (
        <span className="muted">{formatCount(rows.length - drafts.length)} are no drafts</span>
      )}
      {isAsking && (
        <ApproveQuestion
          drafts={drafts}
          onDone={chosen.onDecided}
          onClose={() => setAsking(false)}
        />
      )}
    </>
  );
}

export function ApproveQuestion({
  drafts,
  onDone,
  onClose,
}: {
  readonly drafts: readonly Statement[];
  readonly onDone: () => void;
  readonly onClose: () => void;
}): ReactElement {
  const { api } = useMembership();
  const approve = useWriteOnce(STATEMENT_NAMES, async (ids: readonly number[]) => {
    const refused: { readonly id: number; readonly message: string }[] = [];
    for (let from = 0; from < ids.length; from += IDS_MAX) {
      const body = { ids: ids.slice(from, from + IDS_MAX) };
      const { data } = await read(api.POST("/statements/approve", { body }));
      refused.push(...data.filter(({ outcome }) => outcome === "refused"));
    }
    if (refused.length === 0) onDone();
    return refused;
  });
  const count = `${formatCount(drafts.length)} ${drafts.length === 1 ? "statement" : "statements"}`;
  const refused = approve.data ?? [];
  const nameOf = (id: number): string =>
    drafts.find((draft) => draft.id === id)?.affiliate_name ?? "";
  return (
    <Dialog title={`Approve ${count}?`} onClose={onClose}>
      <p>
        {count}, {sumsText(drafts)} to be paid. Approved statements get a number and are shown to
        the partners. They cannot be taken back.
      </p>
      {refused.length > 0 && (
        <ul className="plain-list" role="status">
          {refused.map(({ id, message }) => (
            <li key={id}>
              <StrangerText text={nameOf(id)} />: {message}
            </li>
          ))}
        </ul>
      )}
      {approve.isError && <ProblemNotice error={approve.error} />}
      <div className="row">
        <button
          type="button"
          className="button first"
          disabled={approve.isPending}
          onClick={() =>
            approve.mutate(
              drafts.map(({ id }) => id),
              { onSuccess: (left) => left.length === 0 && onClose() },
            )
          }
        >
          {approve.isPending ? "Approving" : `Approve ${count}`}
        </button>
        <button type="button" className="button" onClick={onClose}>
          Cancel
        </button>
      </div>
    </Dialog>
  );
}
