import { LISTED_CONVERSIONS, type RoleFigures } from "./role-figures.ts";

/** What the network earns is what an advertiser pays. Clicks are not listed for advertisers. */
export const ADVERTISER_FIGURES: RoleFigures = {
  tiles: ["clicks", "conversions", "revenue", "cvr", "epc"],
  tops: ["offer", "country"],
  // Money first: a phone shows one column beside the name.
  reported: [
    "revenue",
    "clicks",
    "conversions",
    "pending_conversions",
    "rejected_conversions",
    "cvr",
    "epc",
  ],
  costs: new Set(["revenue", "rejected_conversions"]),
  lists: LISTED_CONVERSIONS,
  names: {
    affiliate: "Partner",
    revenue: "Cost",
    rpc: "Cost per click",
    pending_revenue: "Pending cost",
    rejected_revenue: "Rejected cost",
  },
  prices: new Set(["epc", "rpc", "ecpm", "avg_sale_amount"]),
  amounts: [["revenue", "Cost"]],
  clickAmounts: [],
};
