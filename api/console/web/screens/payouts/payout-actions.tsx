import { type ReactElement, useState } from "react";
import { read } from "../../client/api-client.ts";
import { Problem } from "../../client/problem.ts";
import { formatCount } from "../../format/figure.ts";
import { formatMoney } from "../../format/money.ts";
import { formatDay } from "../../format/time.ts";
import { useMembership } from "../../member/membership.ts";
import { useWriteOnce } from "../../member/use-write.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { ProblemNotice } from "../../parts/problem-notice.tsx";
import { PAYOUT_NAMES, type PayoutRun } from "./payout.ts";

/** What an admin can do with a run that nothing was paid of yet. */
export function PayoutActions({ run }: { readonly run: PayoutRun }): ReactElement {
  const [asked, setAsked] = useState<"approve" | "cancel">();
  const onClose = (): void => setAsked(undefined);
  const isDraft = run.status === "draft";
  // A run with a result can no longer be cancelled.
  const hasResults = run.lines.some(({ status }) => status !== "pending");
  return (
    <section className="panel stack">
      <h2>Actions</h2>
      <p className="muted">
        {isDraft
          ? "Approving freezes where each payment goes. Held payments leave the run."
          : hasResults
            ? "Enter below what the bank did with the payments that are pending."
            : "Send the payments, then enter below what the bank did with them."}
      </p>
      <div className="row wrap">
        {isDraft && (
          <button
            type="button"
            className="button first"
            disabled={run.line_count === 0}
            onClick={() => setAsked("approve")}
          >
            Approve
          </button>
        )}
        {!hasResults && (
          <button type="button" className="button danger" onClick={() => setAsked("cancel")}>
            Cancel the run
          </button>
        )}
      </div>
      {asked === "approve" && <ApproveQuestion run={run} onClose={onClose} />}
      {asked === "cancel" && <CancelQuestion run={run} onClose={onClose} />}
    </section>
  );
}

type Question = { readonly run: PayoutRun; readonly onClose: () => void };

function ApproveQuestion({ run, onClose }: Question): ReactElement {
  const { api } = useMembership();
  const { id, currency, total, held_count: held, line_count: lines } = run;
  const approve = useWriteOnce(PAYOUT_NAMES, async () => {
    await read(api.POST("/payout-runs/{id}/approve", { params: { path: { id } } }));
    onClose();
  });
  const { error } = approve;
  const isRefused = error instanceof Problem && error.code === "forbidden";
  const count = `${formatCount(lines)} ${lines === 1 ? "payment" : "payments"}`;
  return (
    <Dialog title={`Approve ${count}?`} onClose={onClose}>
      <p>
        {count} with {formatMoney(total, currency)} on {formatDay(run.execution_date)}.
        {held > 0 && ` ${formatCount(held)} held ${held === 1 ? "leaves" : "leave"} the run.`}
      </p>
      {error !== null && (
        <ProblemNotice
          error={error}
          advice={
            isRefused
              ? "This workspace wants two people for a payout: ask another admin to approve it."
              : undefined
          }
        />
      )}
      <div className="row">
        <button
          type="button"
          className="button first"
          disabled={approve.isPending}
          onClick={() => approve.mutate(undefined)}
        >
          {approve.isPending ? "Approving" : `Approve ${count}`}
        </button>
        <button type="button" className="button" onClick={onClose}>
          Not now
        </button>
      </div>
    </Dialog>
  );
}

function CancelQuestion({ run: { id, status }, onClose }: Question): ReactElement {
  const { api } = useMembership();
  const [isUnsent, setUnsent] = useState(false);
  const cancel = useWriteOnce(PAYOUT_NAMES, async () => {
    const body = { file_was_not_sent: isUnsent };
    await read(api.POST("/payout-runs/{id}/cancel", { params: { path: { id } }, body }));
    onClose();
  });
  return (
    <Dialog title="Cancel the run?" onClose={onClose}>
      <p>Nobody is paid with it. Its statements are free for the next run.</p>
      {status === "approved" && (
        <label className="row">
          <input
            type="checkbox"
            checked={isUnsent}
            onChange={(event) => setUnsent(event.currentTarget.checked)}
          />
          No file of this run was sent to a bank or service
        </label>
      )}
      {cancel.isError && <ProblemNotice error={cancel.error} />}
      <div className="row">
        <button
          type="button"
          className="button danger"
          disabled={cancel.isPending}
          onClick={() => cancel.mutate(undefined)}
        >
          {cancel.isPending ? "Cancelling" : "Cancel the run"}
        </button>
        <button type="button" className="button" onClick={onClose}>
          Keep it
        </button>
      </div>
    </Dialog>
  );
}
