import { useMutation } from "@tanstack/react-query";
import { Download } from "lucide-react";
import type { ReactElement } from "react";
import { saveDocument } from "../../client/save-document.ts";
import { useMembership } from "../../member/membership.ts";
import { ProblemNotice } from "../../parts/problem-notice.tsx";
import { type FileFormat, FORMATS, type PayoutRun } from "./payout.ts";

/** The files of an approved run for the bank or the payment service, with payment details in the clear. */
export function PayoutFiles({ run: { id } }: { readonly run: PayoutRun }): ReactElement {
  const membership = useMembership();
  const save = useMutation({
    mutationFn: async ([format, , ending]: FileFormat) =>
      await saveDocument(membership, {
        path: `/api/v1/payout-runs/${id}/export?format=${format}`,
        name: `payout-run-${id}-${format}.${ending}`,
      }),
  });
  return (
    <section className="panel stack">
      <h2>Files</h2>
      <p className="muted">
        A file has the payment details that were approved and never changes. Each download is in the
        audit log.
      </p>
      <div className="row wrap">
        {FORMATS.map((format) => (
          <button
            key={format[0]}
            type="button"
            className="button"
            disabled={save.isPending}
            onClick={() => save.mutate(format)}
          >
            <Download size={14} aria-hidden /> {format[1]}
          </button>
        ))}
      </div>
      {save.isError && <ProblemNotice error={save.error} />}
    </section>
  );
}
