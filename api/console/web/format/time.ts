import { ownLocale, ownZone } from "./own-format.ts";

/** An instant in the person's own zone, else in the workspace's, such as "Nov 25, 2026, 14:03:07". */
export function formatInstant(iso: string, zone: string): string {
  return formatterOf(ownZone() ?? zone, { dateStyle: "medium", timeStyle: "medium" }).format(
    new Date(iso),
  );
}

/** A day such as 2026-11-25 in words: "Nov 25, 2026". "" for none. */
export function formatDay(day: string | null): string {
  if (day === null) return "";
  const at = new Date(`${day}T00:00:00Z`);
  return Number.isNaN(at.getTime()) ? day : formatterOf("UTC", { dateStyle: "medium" }).format(at);
}

/** First and last day of a period by the clock of its zone, such as "Nov 1 – 30, 2026". `to` is the first instant after it. */
export function formatPeriod(
  period: { readonly from: string; readonly to: string },
  zone: string,
): string {
  const last = Date.parse(period.to) - 1;
  return formatterOf(zone, { dateStyle: "medium" }).formatRange(Date.parse(period.from), last);
}

/** The hour that begins at an instant, by the clock of the zone, such as "Nov 25, 14:00". */
export function formatHour(iso: string, zone: string): string {
  const options = { month: "short", day: "numeric", hour: "2-digit", minute: "2-digit" } as const;
  return formatterOf(zone, { ...options, hourCycle: "h23" }).format(new Date(iso));
}

/** A bucket of a report: "2026-11-25" or "2026-11-25 14:00" in words. */
export function formatBucket(bucket: string, interval: "hour" | "day" | "week" | "month"): string {
  const [day = "", hour] = bucket.replace("T", " ").split(" ");
  const at = new Date(`${day.length === 7 ? `${day}-01` : day}T00:00:00Z`);
  if (Number.isNaN(at.getTime())) return bucket;
  const format = (options: Intl.DateTimeFormatOptions): string =>
    new Intl.DateTimeFormat(ownLocale(), { ...options, timeZone: "UTC" }).format(at);
  if (interval === "month") return format({ month: "short", year: "numeric" });
  const date = format({ month: "short", day: "numeric" });
  return interval === "hour" && hour !== undefined ? `${date}, ${hour.slice(0, 5)}` : date;
}

const formatters = new Map<string, Intl.DateTimeFormat>();

function formatterOf(zone: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const locale = ownLocale();
  const key = `${locale ?? ""} ${zone} ${JSON.stringify(options)}`;
  let formatter = formatters.get(key);
  if (formatter === undefined) {
    formatter = new Intl.DateTimeFormat(locale, { ...options, timeZone: zone });
    formatters.set(key, formatter);
  }
  return formatter;
}
