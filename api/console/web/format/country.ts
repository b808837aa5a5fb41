import { ownLocale } from "./own-format.ts";

const names = new Map<string | undefined, Intl.DisplayNames>();

/** The name of a country by its two letters; what is no code stays as it is. */
export function formatCountry(code: string): string {
  return /^[A-Z]{2}$/.test(code) ? (namesIn(ownLocale()).of(code) ?? code) : code;
}

function namesIn(locale: string | undefined): Intl.DisplayNames {
  let found = names.get(locale);
  if (found === undefined) {
    found = new Intl.DisplayNames(locale, { type: "region", fallback: "code" });
    names.set(locale, found);
  }
  return found;
}
