import { useSearch as useRawSearch } from "wouter/use-browser-location";

/** The parameters as they stand in the address. The hook of `wouter` itself decodes them, so that a value with `,` or `%` would be read wrong. */
export function useSearch(): string {
  return useRawSearch().replace(/^\?/, "");
}
