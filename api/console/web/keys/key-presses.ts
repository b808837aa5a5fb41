/** Keys that open a screen after `g`, by the screen's path. A role uses the keys of its own navigation. */
export const SCREEN_KEYS: ReadonlyMap<string, string> = new Map([
  ["/", "d"],
  ["/reports", "r"],
  ["/inbox", "i"],
  ["/conversions", "c"],
  ["/clicks", "k"],
  ["/offers", "o"],
  ["/partners", "p"],
  ["/advertisers", "a"],
  ["/links", "l"],
  ["/integrations", "t"],
  ["/postbacks", "t"],
  ["/rules", "u"],
  ["/workspace", "w"],
  ["/account", "w"],
  ["/system", "s"],
]);

/** The second key must follow within this time. */
const PAIR_MS = 1_500;

export type Press = { readonly key: string; readonly atMs: number };

/** What single keys ask for. */
export type Wish =
  | { readonly kind: "begin" }
  | { readonly kind: "screen"; readonly key: string }
  | { readonly kind: "filter" | "next" | "previous" | "choose" | "approve" | "reject" | "help" };

const WISHES: Readonly<Record<string, Wish>> = {
  g: { kind: "begin" },
  "/": { kind: "filter" },
  j: { kind: "next" },
  k: { kind: "previous" },
  x: { kind: "choose" },
  a: { kind: "approve" },
  r: { kind: "reject" },
  "?": { kind: "help" },
};

/** What a key asks for. `begun` is the `g` before it. */
export function wishOf({ key, atMs }: Press, begun: Press | undefined): Wish | undefined {
  if (begun !== undefined && atMs - begun.atMs <= PAIR_MS) return { kind: "screen", key };
  return Object.hasOwn(WISHES, key) ? WISHES[key] : undefined;
}
