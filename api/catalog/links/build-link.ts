import { SUB_IDS } from "../../../schemas/events/sub-ids.ts";
/** The sub IDs and `source_id` of a link with their values, in the order of the link. */
export type LinkValues = readonly (readonly [name: string, value: LinkValue])[];

/** `isTemplate`: the tags stay as they are, so that the traffic source can fill them in. */
type LinkValue = { readonly text: string; readonly isTemplate: boolean };

export type LinkParts = {
  /** `https://go.example.com`. */
  readonly origin: string;
  readonly offerCode: string;
  readonly affiliateCode: string;
  readonly values: LinkValues;
};

/** Names of the values that a link can carry, in their order. */
export const LINK_VALUE_NAMES = [...SUB_IDS, "source_id"];

/** Parameters that the ad platform fills in, in the order of G170. Each has the name of its tag. */
const CORE_TAGS =
  `gclid campaignid adgroupid creative keyword matchtype network device placement targetid
  loc_physical_ms`.split(/\s+/);
const SUFFIX_TAGS = ["campaignid", "adgroupid", "keyword"];
const TAG = /(\{[^{}\s&#%?=+]+\})/;

/** `/r/<offer_code>/<affiliate_code>`, with a query only if there are values (T57). */
export function affiliateLink({ origin, offerCode, affiliateCode, values }: LinkParts): string {
  const query = queryOf(values).join("&");
  return `${origin}/r/${offerCode}/${affiliateCode}${query === "" ? "" : `?${query}`}`;
}

/** A tracking template: `/c/<link key>`, unchanged tags, `url={lpurl}` last (T57). */
export function transparentLink(parts: LinkParts): string {
  const query = [...tags(CORE_TAGS), ...queryOf(parts.values), "url={lpurl}"];
  return `${parts.origin}/c/${linkKeyOf(parts)}?${query.join("&")}`;
}

/** The final URL suffix for the ad platform, without a leading `?` or `&` (G170). */
export function finalUrlSuffix(values: LinkValues): string {
  return [...tags(SUFFIX_TAGS), ...queryOf(values)].join("&");
}

/** The key for `/c/` that works without a link key record (G183). */
export function linkKeyOf({
  offerCode,
  affiliateCode,
}: Pick<LinkParts, "offerCode" | "affiliateCode">): string {
  return `${offerCode}-${affiliateCode}`;
}

/** Returns the `texts` that are not empty. */
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
