import { ownLocale } from "./own-format.ts";

type Kind = "region" | "language" | "currency";

const names = new Map<string, Intl.DisplayNames>();

/** The name of a country, a language or a currency in the person's language; its code if it has none. @throws RangeError for what is no code. */
export function codeName(type: Kind, code: string): string {
  const locale = ownLocale();
  const key = `${type} ${locale ?? ""}`;
  let found = names.get(key);
  if (found === undefined) {
    found = new Intl.DisplayNames(locale, { type, fallback: "code" });
    names.set(key, found);
  }
  return found.of(code) ?? code;
}
