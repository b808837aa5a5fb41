import { LISTED_CLICKS, LISTED_CONVERSIONS, type RoleFigures } from "./role-figures.ts";

export const PARTNER_FIGURES: RoleFigures = {
  tiles: ["clicks", "conversions", "payout", "cvr", "epc"],
  costs: new Set(["rejected_conversions"]),
  lists: { ...LISTED_CONVERSIONS, ...LISTED_CLICKS },
  amounts: [["payout", "Payout"]],
};
