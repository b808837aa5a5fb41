export type Days = { readonly from: string; readonly to: string };

/** The months that a range of days touches, each cut to the range; the last one first. */
export function monthsIn({ from, to }: Days): Days[] {
  const months: Days[] = [];
  for (let first = from; first <= to; first = nextMonth(first)) {
    const last = lastDay(first);
    months.unshift({ from: first, to: last < to ? last : to });
  }
  return months;
}

/** The days in the zone of an instant range, as the API echoes it. */
export function daysOf({
  from,
  to,
  tz,
}: {
  readonly from: string;
  readonly to: string;
  readonly tz: string;
}): Days {
  const format = new Intl.DateTimeFormat("en-CA", { timeZone: tz });
  return { from: format.format(new Date(from)), to: format.format(new Date(to)) };
}

function nextMonth(day: string): string {
  const [year = 0, month = 0] = day.split("-").map(Number);
  return new Date(Date.UTC(year, month, 1)).toISOString().slice(0, 10);
}

function lastDay(day: string): string {
  const [year = 0, month = 0] = day.split("-").map(Number);
  return new Date(Date.UTC(year, month, 0)).toISOString().slice(0, 10);
}
