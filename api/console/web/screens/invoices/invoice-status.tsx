import type { ReactElement } from "react";
import { StatusBadge } from "../../parts/status-badge.tsx";
import type { Invoice } from "./invoice.ts";

/** The state of an invoice; overdue is said beside it. */
export function InvoiceStatus({
  invoice: { status, is_overdue: isOverdue, kind },
}: {
  readonly invoice: Pick<Invoice, "status" | "is_overdue" | "kind">;
}): ReactElement {
  return (
    <span className="row tight">
      <StatusBadge status={kind === "credit_note" ? "credit_note" : status} />
      {isOverdue && <span className="badge bad">Overdue</span>}
    </span>
  );
}
