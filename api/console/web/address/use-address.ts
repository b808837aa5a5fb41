import { useLocation } from "wouter";
import { useSearch } from "./use-search.ts";

/** Undefined removes a parameter. */
export type AddressChange = Readonly<Record<string, string | undefined>>;

/** The parameters of the address, and how to change some of them. */
export function useAddress(): readonly [URLSearchParams, (change: AddressChange) => void] {
  const search = new URLSearchParams(useSearch());
  const [path, go] = useLocation();
  const change = (to: AddressChange): void => {
    const next = new URLSearchParams(search);
    for (const [name, value] of Object.entries(to)) {
      if (value === undefined || value === "") next.delete(name);
      else next.set(name, value);
    }
    const text = next.toString();
    go(text === "" ? path : `${path}?${text}`);
  };
  return [search, change];
}
