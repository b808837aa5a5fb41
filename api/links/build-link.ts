/** Value of each sub ID and of `source_id` that a link carries, in the order of the link. */
export type LinkValues = readonly (readonly [name: string, value: LinkValue])[];

/** `isTemplate`: its tags stay as they are, for the traffic source to fill in. */
type LinkValue = { readonly text: string; readonly isTemplate: boolean };

export type LinkParts = {
  /** `https://go.example.com`. */
  readonly origin: string;
  readonly offerCode: string;
  readonly affiliateCode: string;
  readonly values: LinkValues;
};

const SUB_NAMES = Array.from({ length: 10 }, (_, index) => `sub${index + 1}`);
/** Names of the values that a link can carry, in their order in it. */
export const LINK_VALUE_NAMES = [...SUB_NAMES, "source_id"];

/** What the ad platform fills in, in the order of G170; each parameter has the name of its tag. */
const CORE_TAGS = [
  ...["gclid", "campaignid", "adgroupid", "creative", "keyword", "matchtype", "network", "device"],
  ...["placement", "targetid", "loc_physical_ms"],
];
const SUFFIX_TAGS = ["campaignid", "adgroupid", "keyword"];
const TAG = /(\{[^{}\s&#%?=+]+\})/;

/** `/r/<offer_code>/<affiliate_code>`, with a query only where there are values (T57). */
export function affiliateLink({ origin, offerCode, affiliateCode, values }: LinkParts): string {
  const query = queryOf(values).join("&");
  return `${origin}/r/${offerCode}/${affiliateCode}${query === "" ? "" : `?${query}`}`;
}

/** A tracking template: `/c/<link key>`, tags as they are, `url={lpurl}` last (T57). */
export function transparentLink(parts: LinkParts): string {
  const query = [...tags(CORE_TAGS), ...queryOf(parts.values), "url={lpurl}"];
  return `${parts.origin}/c/${linkKeyOf(parts)}?${query.join("&")}`;
}

/** G170. */
export function finalUrlSuffix(values: LinkValues): string {
  return [...tags(SUFFIX_TAGS), ...queryOf(values)].join("&");
}

/** The key of `/c/` that needs no record (G183). */
export function linkKeyOf({
  offerCode,
  affiliateCode,
}: Pick<LinkParts, "offerCode" | "affiliateCode">): string {
  return `${offerCode}-${affiliateCode}`;
}

/** Those of `texts` that hold something. */
export function linkValues(
  texts: Readonly<Record<string, string | undefined>>,
  { isTemplate }: { readonly isTemplate: boolean },
): LinkValues {
  return LINK_VALUE_NAMES.flatMap((name) => {
    const text = texts[name] ?? "";
    return text === "" ? [] : [[name, { text, isTemplate }] as const];
  });
}

function tags(names: readonly string[]): string[] {
  return names.map((name) => `${name}={${name}}`);
}

function queryOf(values: LinkValues): string[] {
  return values.map(([name, value]) => `${name}=${encode(value)}`);
}

function encode({ text, isTemplate }: LinkValue): string {
  if (!isTemplate) return encodeURIComponent(text);
  // The separator is captured, so every second part is a tag.
  return text
    .split(TAG)
    .map((part, index) => (index % 2 === 1 ? part : encodeURIComponent(part)))
    .join("");
}
