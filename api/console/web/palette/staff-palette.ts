import { read } from "../client/api-client.ts";
import { type Membership, mayDo } from "../member/membership.ts";
import {
  findClick,
  findConversion,
  findGclid,
  findIn,
  findOrder,
  foundQuery,
} from "./find-records.ts";
import { type Found, kindOf, type PaletteAction, type RolePalette } from "./found.ts";

/** What staff do and look for. */
export const STAFF_PALETTE: RolePalette = {
  actions: (membership) =>
    ACTIONS.filter(({ needs }) => membership.role === "admin" && mayDo(membership, needs)),
  find: async (membership, text, signal) => {
    const kind = kindOf(text);
    if (kind === "click") return await findIn([findClick], membership, text, signal);
    if (kind === "conversion") return await findIn([findConversion], membership, text, signal);
    const names = [findOffers, findPartners, findAdvertisers];
    const finds = kind === "id" ? [...names, findGclid, findOrder] : names;
    return await findIn(finds, membership, text, signal);
  },
};

const ACTIONS: readonly (PaletteAction & { readonly needs: Parameters<typeof mayDo>[1] })[] = [
  { title: "New offer", path: "/offers/new", needs: "offers.write" },
  { title: "New partner", path: "/partners/new", needs: "affiliates.write" },
  { title: "New advertiser", path: "/advertisers/new", needs: "advertisers.write" },
  {
    title: "Review pending conversions",
    path: "/conversions?preset=last90&status=pending",
    needs: "conversions.write",
  },
];

async function findOffers(
  membership: Membership,
  q: string,
  signal: AbortSignal,
): Promise<readonly Found[]> {
  if (!mayDo(membership, "offers.read")) return [];
  const params = { query: foundQuery(q) };
  const { data } = await read(membership.api.GET("/offers", { params, signal }));
  return data.map(({ id, name, code }) => ({
    kind: "Offer",
    title: name,
    detail: code,
    path: `/offers/${id}`,
  }));
}

async function findPartners(
  membership: Membership,
  q: string,
  signal: AbortSignal,
): Promise<readonly Found[]> {
  if (!mayDo(membership, "affiliates.read")) return [];
  const params = { query: foundQuery(q) };
  const { data } = await read(membership.api.GET("/affiliates", { params, signal }));
  return data.map(({ id, name, code }) => ({
    kind: "Partner",
    title: name,
    detail: code,
    path: `/partners/${id}`,
  }));
}

async function findAdvertisers(
  membership: Membership,
  q: string,
  signal: AbortSignal,
): Promise<readonly Found[]> {
  if (!mayDo(membership, "advertisers.read")) return [];
  const params = { query: foundQuery(q) };
  const { data } = await read(membership.api.GET("/advertisers", { params, signal }));
  return data.map(({ id, name }) => ({
    kind: "Advertiser",
    title: name,
    detail: `ID ${id}`,
    path: `/advertisers/${id}`,
  }));
}
