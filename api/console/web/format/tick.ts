import type { FigureKind } from "./figure.ts";

/** A number of an axis, short. */
export function formatTick(tick: number, kind: FigureKind, currency: string): string {
  const short = { notation: "compact", maximumFractionDigits: 1 } as const;
  if (kind === "money" || kind === "price")
    return new Intl.NumberFormat(undefined, { ...short, style: "currency", currency }).format(tick);
  if (kind === "ratio")
    return new Intl.NumberFormat(undefined, { style: "percent", maximumFractionDigits: 1 }).format(
      tick,
    );
  return new Intl.NumberFormat(undefined, short).format(tick);
}
