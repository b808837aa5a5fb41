import type { ReactNode } from "react";

/** The point or comma of a language, and the digits after it, before a currency that stands behind. */
const FRACTION = /[.,](\d+)[^\d]*$/;
const GROUP_DIGITS = 3;

/** Digits after the point of an amount; 0 for any other content of a cell. */
export function decimalsIn(cell: ReactNode): number {
  if (typeof cell !== "string") return 0;
  const digits = FRACTION.exec(cell)?.[1]?.length ?? 0;
  // Three digits are taken for thousands. A currency with three decimals shows them in every row.
  return digits === GROUP_DIGITS ? 0 : digits;
}

/** Digits by which an amount is shorter behind its point than the longest of its column, which has `most`. */
export function missingDecimals(cell: ReactNode, most: number | undefined): number {
  const shown = decimalsIn(cell);
  return shown === 0 || most === undefined ? 0 : most - shown;
}
