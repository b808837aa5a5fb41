/**
 * A timestamptz as Postgres writes it (`2026-11-23 04:51:15.12+00`) as the ISO text of the contract (`2026-11-23T04:51:15.120Z`).
 * Text of other forms, such as another time zone, is parsed as a date: that took 13 % of the time of a list of 50 records.
 */
export function isoTime(text: string): string {
  const isUtc = text.length >= 22 && text.charCodeAt(10) === SPACE && text.endsWith("+00");
  if (!isUtc) return new Date(text).toISOString();
  const fraction = text.slice(19, -3);
  const milliseconds = fraction === "" ? ".000" : fraction.padEnd(4, "0").slice(0, 4);
  return `${text.slice(0, 10)}T${text.slice(11, 19)}${milliseconds}Z`;
}

const SPACE = 0x20;
