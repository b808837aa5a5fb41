import { type ReactElement, useState } from "react";
import { read } from "../../client/api-client.ts";
import { useMembership } from "../../member/membership.ts";
import { useWriteOnce } from "../../member/use-write.ts";
import { ConfirmButton } from "../../parts/confirm-button.tsx";
import { ProblemNotice } from "../../parts/problem-notice.tsx";
import { RecordForm } from "../../records/record-form.tsx";
import { type InvoiceDetail, MONEY_NAMES } from "./invoice.ts";

/** What an admin can do with an invoice in its state. */
export function InvoiceActions({
  invoice: { id, kind, status },
  onPay,
}: {
  readonly invoice: InvoiceDetail;
  readonly onPay: (() => void) | undefined;
}): ReactElement | null {
  const isUnsent = status === "draft" || status === "carried";
  const isSent = kind === "invoice" && ["sent", "part_paid", "paid"].includes(status);
  if (!isUnsent && !isSent) return null;
  return (
    <section className="panel stack">
      <h2>Actions</h2>
      {isUnsent && <Unsent id={id} isDraft={status === "draft"} />}
      {onPay !== undefined && (
        <div className="row">
          <button type="button" className="button first" onClick={onPay}>
            Enter payment
          </button>
        </div>
      )}
      {isSent && <Credit id={id} />}
    </section>
  );
}

function Unsent({ id, isDraft }: { readonly id: number; readonly isDraft: boolean }): ReactElement {
  const { api } = useMembership();
  const params = { path: { id } };
  const approve = useWriteOnce(MONEY_NAMES, async () => {
    await read(api.POST("/invoices/{id}/approve", { params }));
  });
  const makeVoid = useWriteOnce(MONEY_NAMES, async () => {
    await read(api.POST("/invoices/{id}/void", { params }));
  });
  const error = approve.error ?? makeVoid.error;
  return (
    <>
      {isDraft && (
        <p className="muted">
          Approving gives the invoice its number and shows it to the advertiser. What it says never
          changes after that.
        </p>
      )}
      <div className="row wrap">
        {isDraft && (
          <button
            type="button"
            className="button first"
            disabled={approve.isPending}
            onClick={() => approve.mutate(undefined)}
          >
            {approve.isPending ? "Approving" : "Approve"}
          </button>
        )}
        <ConfirmButton
          label="Make void"
          question="What is on it goes on the next invoice."
          isBusy={makeVoid.isPending}
          onConfirm={() => makeVoid.mutate(undefined)}
        />
      </div>
      {error !== null && <ProblemNotice error={error} />}
    </>
  );
}

function Credit({ id }: { readonly id: number }): ReactElement {
  const { api } = useMembership();
  const [isCrediting, setCrediting] = useState(false);
  const credit = useWriteOnce(MONEY_NAMES, async (reason: string) => {
    const params = { path: { id } };
    await read(api.POST("/invoices/{id}/credit", { params, body: { reason } }));
  });
  if (!isCrediting)
    return (
      <div className="row">
        <button type="button" className="button" onClick={() => setCrediting(true)}>
          Credit
        </button>
      </div>
    );
  return (
    <>
      <p className="muted">
        A credit note takes back the whole invoice. What was paid for it settles other invoices.
        What was on it is not invoiced again: enter an adjustment for what is still owed.
      </p>
      <RecordForm
        fields={[{ name: "reason", label: "Reason", required: true }]}
        submit="Make the credit note"
        onSubmit={async ({ reason = "" }) => await credit.mutateAsync(String(reason))}
        onCancel={() => setCrediting(false)}
      />
    </>
  );
}
