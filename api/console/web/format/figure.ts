import { formatMoney, formatSum } from "./money.ts";
import { ownLocale } from "./own-format.ts";

/** `kind` of `GET /reports/metrics`, and "price" for money of one unit of something, which may be below the smallest coin. */
export type FigureKind = "count" | "money" | "price" | "ratio";

/** A value of a report. Null is not defined, such as a rate without clicks. */
export type Figure = number | string | null;

/** A value that does not exist, which is not zero. */
export const NOT_DEFINED = "–";

const PERCENT_DIGITS = 2;

export function formatFigure(
  value: Figure | undefined,
  kind: FigureKind,
  currency: string,
): string {
  if (value === null || value === undefined) return NOT_DEFINED;
  if (kind === "money") return formatSum(String(value), currency);
  if (kind === "price") return formatMoney(String(value), currency);
  if (kind === "ratio") return formatFraction(value);
  return formatCount(value);
}

/** The whole amount where {@link formatFigure} rounds it. */
export function exact(
  value: Figure | undefined,
  kind: FigureKind,
  currency: string,
): string | undefined {
  if (kind !== "money" || value === null || value === undefined) return undefined;
  const whole = formatMoney(String(value), currency);
  return whole === formatFigure(value, kind, currency) ? undefined : whole;
}

export function formatCount(value: number | string): string {
  return new Intl.NumberFormat(ownLocale()).format(
    typeof value === "string" ? BigInt(value) : value,
  );
}

/** 0.0123 as "1.23%". */
export function formatFraction(value: number | string, digitsMax = PERCENT_DIGITS): string {
  return new Intl.NumberFormat(ownLocale(), {
    style: "percent",
    maximumFractionDigits: digitsMax,
  }).format(Number(value));
}
