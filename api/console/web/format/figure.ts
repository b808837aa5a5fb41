import { formatMoney } from "./money.ts";

/** How the API sends a metric: see `kind` in `GET /reports/metrics`. */
export type FigureKind = "count" | "money" | "ratio";

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
  if (kind === "money") return formatMoney(String(value), currency);
  if (kind === "ratio") return formatFraction(value);
  return formatCount(value);
}

export function formatCount(value: number | string): string {
  return new Intl.NumberFormat().format(typeof value === "string" ? BigInt(value) : value);
}

/** 0.0123 as "1.23%". */
export function formatFraction(value: number | string): string {
  return new Intl.NumberFormat(undefined, {
    style: "percent",
    maximumFractionDigits: PERCENT_DIGITS,
  }).format(Number(value));
}

/** A change against another period, with its sign. */
export function formatChange(fraction: number): string {
  return new Intl.NumberFormat(undefined, {
    style: "percent",
    maximumFractionDigits: 1,
    signDisplay: "exceptZero",
  }).format(fraction);
}
