import { clockText } from "./recounted-costs.ts";

type Piece = "date" | "week" | "month" | "hour" | "hour_of_day" | "weekday";

const DAYS_OF_WEEK = 7;

/**
 * The value of a time dimension, from the text that clocks of the zone show. Dates are shown `daysLater` days later; hours of the day
 * and days of the week stay.
 */
export function localPiece(
  atMs: number,
  piece: Piece,
  { tz, daysLater }: { readonly tz: string; readonly daysLater: number },
): string | number {
  const text = clockText(atMs, tz);
  const days = piece === "weekday" ? 0 : daysLater;
  const own = Date.parse(`${text.slice(0, 10)}T00:00:00Z`);
  const date = new Date(own + days * 86_400_000).toISOString().slice(0, 10);
  const hour = text.slice(11, 13);
  const noon = new Date(`${date}T12:00:00Z`);
  const weekday = noon.getUTCDay() || DAYS_OF_WEEK;
  switch (piece) {
    case "date":
      return date;
    case "month":
      return date.slice(0, 7);
    case "hour":
      return `${date}T${hour}:00`;
    case "hour_of_day":
      return Number(hour);
    case "weekday":
      return weekday;
    case "week":
      noon.setUTCDate(noon.getUTCDate() - (weekday - 1));
      return noon.toISOString().slice(0, 10);
  }
}
