import { createContext, useContext } from "react";

/** A list whose rows a metric counts, and the filters that leave only these rows. */
export type CountedList = { readonly list: string; readonly only: readonly string[] };

/**
 * The figures that the screens of a role know by name. Each role has its own in its own chunk, so that the browser of a partner does not
 * learn the names of what only staff may see.
 */
export type RoleFigures = {
  /** Tiles of the dashboard, in this order. */
  readonly tiles: readonly string[];
  /** Dimensions of the dashboard's lists, as far as the member may see them. */
  readonly tops: readonly string[];
  /** Metrics of a report whose address names none, in this order. */
  readonly reported: readonly string[];
  /** Metrics that are better when they are smaller. */
  readonly costs: ReadonlySet<string>;
  readonly lists: Readonly<Record<string, CountedList>>;
  /** What the role calls metrics and dimensions, by their names, where the label of the API is another word. */
  readonly names: Readonly<Record<string, string>>;
  /** Metrics that are money of one unit, such as of a click, by their names. */
  readonly prices: ReadonlySet<string>;
  /** Amounts of a conversion, by the names and titles of its fields. */
  readonly amounts: readonly (readonly [name: string, title: string])[];
  /** The same of a click. */
  readonly clickAmounts: readonly (readonly [name: string, title: string])[];
};

/** Lists that every role has. */
export const LISTED_CONVERSIONS: RoleFigures["lists"] = {
  conversions: { list: "/conversions", only: ["status:in:approved"] },
  every_conversion: { list: "/conversions", only: [] },
  pending_conversions: { list: "/conversions", only: ["status:in:pending"] },
  rejected_conversions: { list: "/conversions", only: ["status:in:rejected"] },
};

/** For roles that have a list of clicks. */
export const LISTED_CLICKS: RoleFigures["lists"] = {
  clicks: { list: "/clicks", only: [] },
  unique_clicks: { list: "/clicks", only: ["is_unique:in:true"] },
};

const Chosen = createContext<RoleFigures | undefined>(undefined);
export const RoleFiguresContext = Chosen.Provider;

export function useRoleFigures(): RoleFigures {
  const figures = useContext(Chosen);
  if (figures === undefined) throw new Error("this screen stands outside of a role");
  return figures;
}
