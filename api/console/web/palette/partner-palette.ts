import { read } from "../client/api-client.ts";
import type { Membership } from "../member/membership.ts";
import { findClick, findConversion, findGclid, findIn, foundQuery } from "./find-records.ts";
import { type Found, kindOf, type RolePalette } from "./found.ts";

/** What a partner does and looks for. */
export const PARTNER_PALETTE: RolePalette = {
  actions: () => [
    { title: "Get a tracking link", path: "/links" },
    { title: "Find an offer to promote", path: "/offers" },
  ],
  find: async (membership, text, signal) => {
    const kind = kindOf(text);
    if (kind === "click") return await findIn([findClick], membership, text, signal);
    if (kind === "conversion") return await findIn([findConversion], membership, text, signal);
    const finds = kind === "id" ? [findOwnOffers, findGclid] : [findOwnOffers];
    return await findIn(finds, membership, text, signal);
  },
};

async function findOwnOffers(
  { api }: Membership,
  q: string,
  signal: AbortSignal,
): Promise<readonly Found[]> {
  const { data } = await read(api.GET("/offers", { params: { query: foundQuery(q) }, signal }));
  return data.map(({ id, name, code }) => ({
    kind: "Offer",
    title: name,
    detail: code,
    path: `/offers/${id}`,
  }));
}
