/** A list is a second behind, and the clock of this machine may differ from the server's. */
const LATE_MS = 60_000;

/** Until when a list has all clicks (G264): null while a click writer does not answer. */
export function completeUntil({ headers }: Response): string | null {
  return headers.get("x-tracker-complete-until");
}

/** Since when clicks may be missing in a list that ends at `to`: an instant, or "unknown". Undefined if none is missing. */
export function missingSince(
  { until, to }: { readonly until: string | null; readonly to: string },
  nowMs: number,
): string | undefined {
  if (until === null) return "unknown";
  const newestMs = Math.min(Date.parse(to), nowMs);
  return Date.parse(until) < newestMs - LATE_MS ? until : undefined;
}
