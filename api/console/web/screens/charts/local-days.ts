const DAY_MS = 86_400_000;

/** The day of a zone in which an instant lies, as reports name it: 2026-11-26. */
export function localDay(instant: Date, zone: string): string {
  return new Intl.DateTimeFormat("en-CA", { timeZone: zone }).format(instant);
}

/** Both days and all between them. */
export function daysFrom(first: string, last: string): string[] {
  const start = Date.parse(first);
  const count = Math.max(0, Math.round((Date.parse(last) - start) / DAY_MS)) + 1;
  return Array.from({ length: count }, (_, at) =>
    new Date(start + at * DAY_MS).toISOString().slice(0, 10),
  );
}
