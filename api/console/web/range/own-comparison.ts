import { COMPARES, type Compare } from "../address/period.ts";

const KEY = "comparison";
const NOTHING = "none";

/** What figures are compared with where an address does not say it: the last choice on this device, else the period before. */
export function ownComparison(): Compare | undefined {
  try {
    const kept = localStorage.getItem(KEY);
    if (kept === NOTHING) return undefined;
    return COMPARES.find((one) => one === kept) ?? "previous";
  } catch {
    // Storage is blocked: the usual comparison.
    return "previous";
  }
}

/** Undefined is a choice, too: no comparison. */
export function keepOwnComparison(compare: Compare | undefined): void {
  try {
    localStorage.setItem(KEY, compare ?? NOTHING);
  } catch {
    // Storage is blocked: the choice lasts as long as the address.
  }
}
