const names = new Intl.DisplayNames(undefined, { type: "region", fallback: "code" });

/** The name of a country by its two letters; what is no code stays as it is. */
export function formatCountry(code: string): string {
  return /^[A-Z]{2}$/.test(code) ? (names.of(code) ?? code) : code;
}
