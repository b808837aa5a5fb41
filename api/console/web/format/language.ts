import { ownLocale } from "./own-format.ts";

const names = new Map<string | undefined, Intl.DisplayNames>();

/** A language, perhaps as one country or one script writes it. */
const CODE = /^[a-z]{2,3}(?:-(?:[A-Z]{2}|[A-Z][a-z]{3}))?$/;

/** The name of a language by its code, such as `de` or `pt-BR`; what is no code stays as it is. */
export function formatLanguage(code: string): string {
  return CODE.test(code) ? (namesIn(ownLocale()).of(code) ?? code) : code;
}

function namesIn(locale: string | undefined): Intl.DisplayNames {
  let found = names.get(locale);
  if (found === undefined) {
    found = new Intl.DisplayNames(locale, { type: "language", fallback: "code" });
    names.set(locale, found);
  }
  return found;
}
