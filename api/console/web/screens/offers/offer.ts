import type { components } from "../../../../../.build/console/openapi.ts";
import { formatMoney } from "../../format/money.ts";

export type Offer = components["schemas"]["Offer"];

export const OFFER_LIST = { path: "/offers", title: "Offers" } as const;

const SHARES: ReadonlySet<string> = new Set(["cps", "rps"]);

/** An amount, or a percentage of the sale. */
export function termText(
  type: string | undefined,
  value: string | undefined,
  currency: string,
): string {
  if (type === undefined || value === undefined) return "";
  return SHARES.has(type) ? `${value.replace(/\.?0+$/, "")} %` : formatMoney(value, currency);
}
