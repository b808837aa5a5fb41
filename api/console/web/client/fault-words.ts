/** What people read instead of a sentence that the API writes for programs. The first that matches counts. */
const WORDS: readonly (readonly [api: RegExp, words: string])[] = [
  [/^expected a plain decimal/, "Enter an amount such as 12.50"],
  [/^expected an absolute http/, "Start with https://"],
  [/^expected an IANA time zone/, "Choose a time zone, such as Europe/Berlin"],
  [/^expected an ISO 4217 code|^expected a currency/, "Choose a currency, such as EUR"],
  [/^expected an ISO 3166|^expected a country code/, "Choose a country, such as DE"],
  [/^expected 12 to 128 characters/, "Use 12 to 128 characters"],
  [/^is made of words that are guessed first/, "Too easy to guess"],
  [/^expected true or false/, "Choose yes or no"],
  [/^expected one of /, "Choose one of "],
  [/^expected an id\b.*/, "Choose one from the list"],
  [/^expected /, "Enter "],
];

/** A fault of a field as a person reads it. */
export function faultWords(fault: string): string {
  const found = WORDS.find(([api]) => api.test(fault));
  if (found === undefined) return fault.slice(0, 1).toUpperCase() + fault.slice(1);
  const [api, words] = found;
  return words.endsWith(" ") ? fault.replace(api, words) : words;
}

/** The name of a field that no form shows, such as "Partner" for `affiliate_id`. */
export function fieldWords(path: string): string {
  const name = path.replace(/^.*\./, "").replace(/\[\d+\]$/, "");
  const words = name
    .replace(/_ids?$/, "")
    .replaceAll("affiliate", "partner")
    .replaceAll("_", " ");
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}
