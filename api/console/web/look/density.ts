import { useSyncExternalStore } from "react";

const DENSITIES = ["comfortable", "dense"] as const;
export type Density = (typeof DENSITIES)[number];

const KEY = "table_density";
const listeners = new Set<() => void>();

/** Sets the height of the rows of all tables, and remembers it in this browser. `public/theme.js` reads it before the first paint. */
export function chooseDensity(density: Density): void {
  try {
    if (density === "comfortable") localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, density);
  } catch {
    // Storage is blocked: the choice lasts as long as the page.
  }
  document.documentElement.dataset["density"] = density;
  for (const listener of listeners) listener();
}

/** The style sheet reads the same attribute. */
export function useDensity(): Density {
  return useSyncExternalStore(
    (onChange) => {
      listeners.add(onChange);
      return () => listeners.delete(onChange);
    },
    () => densityOf(document.documentElement.dataset["density"]) ?? "comfortable",
  );
}

export function densityOf(name: unknown): Density | undefined {
  return DENSITIES.find((one) => one === name);
}
