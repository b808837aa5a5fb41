import { findConversion, findIn, findOrder } from "./find-records.ts";
import { kindOf, type RolePalette } from "./found.ts";

/** What an advertiser looks for: its sales. */
export const ADVERTISER_PALETTE: RolePalette = {
  actions: () => [{ title: "Report conversions", path: "/integration" }],
  find: async (membership, text, signal) => {
    const kind = kindOf(text);
    if (kind === "conversion") return await findIn([findConversion], membership, text, signal);
    return kind === "id" ? await findIn([findOrder], membership, text, signal) : [];
  },
};
