import { codeName } from "./code-names.ts";

/** The name of a country by its two letters; what is no code stays as it is. */
export function formatCountry(code: string): string {
  return /^[A-Z]{2}$/.test(code) ? codeName("region", code) : code;
}
