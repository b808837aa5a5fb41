import { LISTED_CLICKS, LISTED_CONVERSIONS, type RoleFigures } from "./role-figures.ts";

export const PARTNER_FIGURES: RoleFigures = {
  tiles: ["clicks", "conversions", "payout", "pending_payout", "cvr", "epc"],
  tops: ["offer", "country"],
  // Money first: a phone shows one column beside the name.
  reported: [
    "payout",
    "clicks",
    "unique_clicks",
    "conversions",
    "pending_conversions",
    "cvr",
    "epc",
  ],
  costs: new Set(["rejected_conversions"]),
  lists: { ...LISTED_CONVERSIONS, ...LISTED_CLICKS },
  names: {
    affiliate: "Partner",
    payout: "Earnings",
    pending_payout: "Pending earnings",
    rejected_payout: "Rejected earnings",
  },
  prices: new Set(["epc", "ecpm", "avg_sale_amount"]),
  amounts: [["payout", "Earnings"]],
  clickAmounts: [["click_payout", "Earnings of the click"]],
};
