import { codeName } from "./code-names.ts";

/** A language, perhaps as one country or one script writes it. */
const CODE = /^[a-z]{2,3}(?:-(?:[A-Z]{2}|[A-Z][a-z]{3}))?$/;

/** The name of a language by its code, such as `de` or `pt-BR`; what is no code stays as it is. */
export function formatLanguage(code: string): string {
  return CODE.test(code) ? codeName("language", code) : code;
}
