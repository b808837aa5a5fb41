import { LISTED_CONVERSIONS, type RoleFigures } from "./role-figures.ts";

/** What the network earns is what an advertiser pays. Clicks are not listed for advertisers. */
export const ADVERTISER_FIGURES: RoleFigures = {
  tiles: ["clicks", "conversions", "revenue", "cvr", "epc"],
  costs: new Set(["revenue", "rejected_conversions"]),
  lists: LISTED_CONVERSIONS,
  amounts: [["revenue", "Revenue"]],
};
