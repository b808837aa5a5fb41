/** The two supported ad platforms. */
export const AD_PLATFORMS = ["adplatform_a", "adplatform_b"] as const;
export type AdPlatform = (typeof AD_PLATFORMS)[number];

/** A tag of an ad platform as it appears in a template: `{gclid}`, `{ifmobile:m}`, `{_name}`. */
export type Tag = {
  /** As written, with its braces. */
  readonly text: string;
  /** The part before the colon, without braces. */
  readonly name: string;
  readonly hasArgument: boolean;
  /** Its first index in the template. */
  readonly at: number;
};

const TAG = /\{([^{}]*)\}/g;

/** All tags that are not nested, in order. */
export function tagsOf(text: string): Tag[] {
  return Array.from(text.matchAll(TAG), ({ 0: whole, 1: inner = "", index }) => {
    const colon = inner.indexOf(":");
    return {
      text: whole,
      name: colon < 0 ? inner : inner.slice(0, colon),
      hasArgument: colon >= 0,
      at: index,
    };
  });
}

/** Overwrites every tag and keeps the length. Braces that remain are stray, and no `/`, `?` or `&` belongs to a tag. */
export function maskTags(text: string): string {
  return text.replaceAll(TAG, (tag) => "_".repeat(tag.length));
}

const LANDING_PAGE_TAGS = named(
  "lpurl lpurl+2 lpurl+3 escapedlpurl escapedlpurl+2 escapedlpurl+3 unescapedlpurl",
);

/** The tags of a platform (G166). `conditional` tags have an argument: `{ifmobile:text}`. */
type TagList = {
  readonly plain: ReadonlySet<string>;
  readonly conditional: ReadonlySet<string>;
  readonly prefixes: readonly string[];
};

const A: TagList = {
  plain: named(`gclid gbraid wbraid campaignid adgroupid creative keyword matchtype network device
    devicemodel placement target targetid feeditemid extensionid loc_physical_ms loc_interest_ms adposition random param1 param2
    aceid assetgroupid adtype merchant_id store_code`),
  conditional: named("ifmobile ifnotmobile ifsearch ifcontent"),
  prefixes: ["product_"],
};

/** In lower case: this platform ignores letter case. */
const B: TagList = {
  plain: named(`msclkid campaignid campaign adgroupid adgroup adid orderitemid keyword querystring
    matchtype bidmatchtype network device targetid feeditemid param1 param2 param3 productid`),
  conditional: named(
    "ifmobile ifnotmobile ifsearch ifnative ifpla copy keyword param1 param2 param3",
  ),
  prefixes: ["loc_"],
};

/** Names separated by white space. */
function named(text: string): ReadonlySet<string> {
  return new Set(text.split(/\s+/));
}

/** The name as the platform knows it; platform b ignores letter case. */
export function tagName({ name }: Tag, platform: AdPlatform): string {
  return platform === "adplatform_b" ? name.toLowerCase() : name;
}

/** A custom parameter of the advertiser. */
export function isCustom({ name, hasArgument }: Tag): boolean {
  return name.length > 1 && name.startsWith("_") && !hasArgument;
}

export function isLandingPage(tag: Tag, platform: AdPlatform): boolean {
  return !tag.hasArgument && LANDING_PAGE_TAGS.has(tagName(tag, platform));
}

/** `{ignore}`, which the ad platform removes and which is not allowed here. */
export function isIgnore(tag: Tag): boolean {
  return tag.text.toLowerCase() === "{ignore}";
}

export function isKnown(tag: Tag, platform: AdPlatform): boolean {
  const list = platform === "adplatform_a" ? A : B;
  const name = tagName(tag, platform);
  if (tag.hasArgument) return list.conditional.has(name);
  if (isCustom(tag) || isLandingPage(tag, platform) || list.plain.has(name)) return true;
  return list.prefixes.some((prefix) => name.length > prefix.length && name.startsWith(prefix));
}
