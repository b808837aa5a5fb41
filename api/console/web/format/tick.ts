import type { FigureKind } from "./figure.ts";
import { ownLocale } from "./own-format.ts";

/** A number of an axis, short. */
export function formatTick(tick: number, kind: FigureKind, currency: string): string {
  const short = { notation: "compact", maximumFractionDigits: 1 } as const;
  if (kind === "money" || kind === "price")
    return new Intl.NumberFormat(ownLocale(), { ...short, style: "currency", currency }).format(
      tick,
    );
  if (kind === "ratio")
    return new Intl.NumberFormat(ownLocale(), {
      style: "percent",
      maximumFractionDigits: 1,
    }).format(tick);
  return new Intl.NumberFormat(ownLocale(), short).format(tick);
}
