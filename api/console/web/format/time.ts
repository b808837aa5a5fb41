import { ownLocale, ownZone } from "./own-format.ts";

/** An instant in the person's own zone, else in the workspace's, such as "Nov 25, 2026, 14:03:07". */
export function formatInstant(iso: string, zone: string): string {
  return formatterOf(ownZone() ?? zone, { dateStyle: "medium", timeStyle: "medium" }).format(
    new Date(iso),
  );
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
