import type { ReactElement } from "react";
import { formatPeriod } from "../../format/time.ts";
import type { Invoice } from "./invoice.ts";

/** The first and the last day of a period, in the zone in which it was closed. */
export function PeriodText({
  invoice: { period_from: from, period_to: to, timezone },
}: {
  readonly invoice: Pick<Invoice, "period_from" | "period_to" | "timezone">;
}): ReactElement {
  return <span>{formatPeriod({ from, to }, timezone)}</span>;
}
