import type { GeoReader } from "../request/geo.ts";
import type { SeededRandom } from "./seeded-random.ts";

/** Enough for some dozen addresses of the smallest country of the demo. A look-up takes about 6 µs. */
const DRAWS = 16_000;
const FIRST_BYTE_END = 223;
/** Addresses that belong to nobody in public: private, loopback and shared ones. */
const NOT_PUBLIC = new Set([0, 10, 100, 127, 169, 172, 192, 198, 203]);

/** Made-up visitors' addresses by country: of homes and offices, and of hosting networks. */
export type DemoAddresses = {
  readonly homes: ReadonlyMap<string, readonly string[]>;
  readonly hosting: readonly string[];
};

/** Draws addresses and sorts them by what the geographic database says, so that the service finds the countries that the demo wants. */
export function drawAddresses(geo: GeoReader, random: SeededRandom): DemoAddresses {
  const homes = new Map<string, string[]>();
  const hosting: string[] = [];
  for (let draw = 0; draw < DRAWS; draw += 1) {
    const first = 1 + random.below(FIRST_BYTE_END);
    const rest = [random.below(256), random.below(256), 1 + random.below(254)];
    if (NOT_PUBLIC.has(first)) continue;
    const address = [first, ...rest].join(".");
    const { country, isDatacenter } = geo.locate(address);
    if (isDatacenter) hosting.push(address);
    else if (country !== "") listOf(homes, country).push(address);
  }
  return { homes, hosting };
}

function listOf(lists: Map<string, string[]>, key: string): string[] {
  const list = lists.get(key) ?? [];
  lists.set(key, list);
  return list;
}
