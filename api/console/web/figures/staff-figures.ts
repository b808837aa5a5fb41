import { LISTED_CLICKS, LISTED_CONVERSIONS, type RoleFigures } from "./role-figures.ts";

export const STAFF_FIGURES: RoleFigures = {
  tiles: ["clicks", "conversions", "revenue", "payout", "profit", "cvr", "epc"],
  tops: ["offer", "affiliate", "country"],
  reported: ["clicks", "unique_clicks", "conversions", "cvr", "revenue", "payout", "profit", "epc"],
  costs: new Set(["payout", "ad_cost", "bot_clicks", "rejected_conversions"]),
  lists: {
    ...LISTED_CONVERSIONS,
    ...LISTED_CLICKS,
    bot_clicks: { list: "/clicks", only: ["is_bot:in:true"] },
  },
  names: { affiliate: "Partner" },
  prices: new Set(["epc", "rpc", "cpc", "ecpm", "avg_sale_amount"]),
  amounts: [
    ["payout", "Payout"],
    ["revenue", "Revenue"],
  ],
  clickAmounts: [
    ["click_payout", "Payout of the click"],
    ["click_revenue", "Revenue of the click"],
  ],
};
