import type { Figure } from "../format/figure.ts";
import { heightOf } from "./pixels.ts";

/** Shades of one colour, from the smallest value to the largest. The exact value is in the reading and in the table. */
export const SHADES: readonly number[] = [0.2, 0.4, 0.6, 0.8, 1];

/** How a mark is filled: nothing and zero in the colour of the ground, all else in one of the shades. */
export function shadeOf(
  value: Figure | undefined,
  largest: number,
): { readonly fill: string; readonly fillOpacity: number } {
  const height = heightOf(value) ?? 0;
  if (height <= 0 || largest <= 0) return { fill: "var(--ground-3)", fillOpacity: 1 };
  // The root keeps small values apart where a few are very large.
  const step = Math.ceil(Math.sqrt(height / largest) * SHADES.length) - 1;
  return { fill: "var(--plot-1)", fillOpacity: SHADES[Math.min(SHADES.length - 1, step)] ?? 1 };
}
