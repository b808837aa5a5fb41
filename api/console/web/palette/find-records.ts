import { read } from "../client/api-client.ts";
import { type Membership, mayDo } from "../member/membership.ts";
import { daysAgo, type Found, ifThere } from "./found.ts";

const FOUND_MAX = 5;
/** Days that the API searches at once. */
const CLICK_DAYS = 89;
const CONVERSION_DAYS = 399;

type Find = (
  membership: Membership,
  text: string,
  signal: AbortSignal,
) => Promise<readonly Found[]>;

/** The click with this ID. */
export const findClick: Find = async (membership, id, signal) => {
  if (!mayDo(membership, "clicks.read")) return [];
  const { data } = await read(
    membership.api.GET("/clicks/{click_id}", { params: { path: { click_id: id } }, signal }),
  );
  const { offer } = data;
  return [{ kind: "Click", title: id, detail: offer.label, path: `/clicks?open=${id}` }];
};

/** Clicks that came with this ID of Google. */
export const findGclid: Find = async (membership, gclid, signal) => {
  if (!mayDo(membership, "clicks.read")) return [];
  const query = { gclid, from: daysAgo(CLICK_DAYS) };
  const { data } = await read(membership.api.GET("/clicks", { params: { query }, signal }));
  return data.slice(0, FOUND_MAX).map(({ click_id: id }) => ({
    kind: "Click",
    title: id,
    detail: `gclid ${gclid}`,
    path: `/clicks?open=${id}`,
  }));
};

/** The conversion with this ID. */
export const findConversion: Find = async (membership, id, signal) => {
  if (!mayDo(membership, "conversions.read")) return [];
  const { data } = await read(
    membership.api.GET("/conversions/{id}", { params: { path: { id } }, signal }),
  );
  return [
    { kind: "Conversion", title: id, detail: data.offer_name, path: `/conversions?open=${id}` },
  ];
};

/** Conversions of an order. Not for partners, who do not see order IDs. */
export const findOrder: Find = async (membership, order, signal) => {
  if (!mayDo(membership, "conversions.read")) return [];
  const query = { adv_txid: order, from: daysAgo(CONVERSION_DAYS), limit: FOUND_MAX };
  const { data } = await read(membership.api.GET("/conversions", { params: { query }, signal }));
  return data.map(({ id, offer_name: offer }) => ({
    kind: "Conversion",
    title: `Order ${order}`,
    detail: offer,
    path: `/conversions?open=${id}`,
  }));
};

/** Looks in several places at once. Places that know nothing of the text are left out. */
export async function findIn(
  finds: readonly Find[],
  ...[membership, text, signal]: Parameters<Find>
): Promise<readonly Found[]> {
  const found = await Promise.all(
    finds.map(async (find) => await ifThere(find(membership, text, signal))),
  );
  return found.flat();
}

/** How many records of one kind are shown. */
export const foundQuery = (q: string): { readonly q: string; readonly limit: number } => ({
  q,
  limit: FOUND_MAX,
});
