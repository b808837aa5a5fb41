import type { ReactElement } from "react";
import type { Invoice } from "./invoice.ts";

/** The first and the last day of a period, in the zone in which it was closed. */
export function PeriodText({
  invoice,
}: {
  readonly invoice: Pick<Invoice, "period_from" | "period_to" | "timezone">;
}): ReactElement {
  const from = dayIn(invoice.timezone, Date.parse(invoice.period_from));
  // The end belongs to the next period.
  const to = dayIn(invoice.timezone, Date.parse(invoice.period_to) - 1);
  return <span>{from === to ? from : `${from} to ${to}`}</span>;
}

/** `YYYY-MM-DD`, as Swedish writes it. */
function dayIn(timeZone: string, atMs: number): string {
  return new Intl.DateTimeFormat("sv-SE", { timeZone, dateStyle: "short" }).format(atMs);
}
