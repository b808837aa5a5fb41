import { LISTED_CLICKS, LISTED_CONVERSIONS, type RoleFigures } from "./role-figures.ts";

export const STAFF_FIGURES: RoleFigures = {
  tiles: ["clicks", "conversions", "revenue", "payout", "profit", "cvr", "epc"],
  costs: new Set(["payout", "ad_cost", "bot_clicks", "rejected_conversions"]),
  lists: {
    ...LISTED_CONVERSIONS,
    ...LISTED_CLICKS,
    bot_clicks: { list: "/clicks", only: ["is_bot:in:true"] },
  },
  amounts: [
    ["payout", "Payout"],
    ["revenue", "Revenue"],
  ],
};
