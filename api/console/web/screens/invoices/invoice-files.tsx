import { useMutation } from "@tanstack/react-query";
import { Download } from "lucide-react";
import type { ReactElement } from "react";
import { saveDocument } from "../../client/save-document.ts";
import { useMembership } from "../../member/membership.ts";
import { ProblemNotice } from "../../parts/problem-notice.tsx";
import type { Invoice } from "./invoice.ts";

const FORMATS = [
  ["pdf", "PDF"],
  ["html", "Page to print"],
  ["csv", "CSV"],
] as const;

/** The files of an invoice, made once from what its approval froze. */
export function InvoiceFiles({
  invoice: { id, number },
  path,
}: {
  readonly invoice: Invoice;
  /** Below `/api/v1`. */
  readonly path: "/invoices" | "/me/invoices";
}): ReactElement {
  const membership = useMembership();
  const save = useMutation({
    mutationFn: async (format: string) =>
      await saveDocument(membership, {
        path: `/api/v1${path}/${id}/files/${format}`,
        name: `${(number ?? "invoice").replaceAll(/[^A-Za-z0-9._-]/g, "_")}.${format}`,
      }),
  });
  return (
    <section className="panel stack">
      <h2>Files</h2>
      <div className="row wrap">
        {FORMATS.map(([format, words]) => (
          <button
            key={format}
            type="button"
            className="button"
            disabled={save.isPending}
            onClick={() => save.mutate(format)}
          >
            <Download size={14} aria-hidden /> {words}
          </button>
        ))}
      </div>
      {save.isError && <ProblemNotice error={save.error} />}
    </section>
  );
}
