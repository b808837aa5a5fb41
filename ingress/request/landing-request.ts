import { LANDING_AD_CLICK_IDS, type LandingAdClickId } from "../../schemas/events/click-lookup.ts";
import { AD_CLICK_ID_LENGTH_MAX } from "../../schemas/events/click-record.ts";
import { SUB_IDS } from "../../schemas/events/sub-ids.ts";
import { parseClickId } from "../../schemas/ids/click-id.ts";
import { parseSentTexts, REPORT_BOUNDS } from "../../schemas/json/sent-json.ts";
import { isNoValue } from "../../schemas/names/no-value.ts";
import { type ClickParameters, LANDING_PARAMETERS, ParameterReader } from "./parameters.ts";
import { referrerSource } from "./referrer-source.ts";

/** What a landing page sends about a visit (G160). Texts are "" when absent. */
export type LandingRequest = {
  readonly clickId: string | undefined;
  /** IDs to look up the click by, in this order. */
  readonly adClickIds: readonly { readonly kind: LandingAdClickId; readonly value: string }[];
  /** The parameters of a click made for this visit. */
  readonly parameters: ClickParameters;
  /** The referrer of the page: where the visitor came from. */
  readonly referrer: string;
  readonly offerCode: string;
  readonly affiliateCode: string;
  readonly isOrganic: boolean;
};

export type ReadLanding =
  | { readonly kind: "landing"; readonly landing: LandingRequest }
  | { readonly kind: "malformed"; readonly error: string };

const AD_CLICK_IDS = [...LANDING_AD_CLICK_IDS, "msclkid"] as const;
const FRAGMENT_PAIRS_MAX = 256;
const FRAGMENT_IDS: ReadonlySet<string> = new Set([...AD_CLICK_IDS, "fbclid", "ttclid"]);

/**
 * Reads the body of `POST /lp`, whatever its content type says (T48). Values of the body win over values of the page's URL.
 * Non-string values are ignored, except in the fields by which a click is looked up.
 */
export function readLandingRequest(body: Uint8Array): ReadLanding {
  const parsed = parseJson(body);
  if (parsed === undefined) return malformed("invalid body");
  if (typeof parsed.value !== "object" || parsed.value === null || Array.isArray(parsed.value)) {
    return malformed("JSON object expected");
  }
  const fields = new Map<string, unknown>(Object.entries(parsed.value));
  const clickId = readClickId(fields.get("click_id"));
  if (clickId === "invalid") return malformed("invalid click_id");
  for (const kind of AD_CLICK_IDS) {
    if (textOf(fields.get(kind)).length > AD_CLICK_ID_LENGTH_MAX)
      return malformed(`${kind} too long`);
  }
  return { kind: "landing", landing: landingOf(fields, clickId) };
}

function landingOf(
  fields: ReadonlyMap<string, unknown>,
  clickId: string | undefined,
): LandingRequest {
  const text = (name: string): string => textOf(fields.get(name));
  const isOrganic = fields.get("organic") === true;
  const url = text("url");
  const referrer = text("referrer");
  const reader = new ParameterReader(LANDING_PARAMETERS);
  for (const name of [...AD_CLICK_IDS, ...SUB_IDS]) reader.add(name, text(name));
  const isOwn = (kind: string): boolean => text(kind) !== "" && !isNoValue(text(kind));
  const hasOwnIds = LANDING_AD_CLICK_IDS.some(isOwn);
  if (isOrganic) {
    const { platform, host, path } = referrerSource(referrer, url);
    reader.add("sub1", platform).add("sub2", host).add("sub3", path);
  }
  for (const query of queriesOf(url)) reader.addQuery(query);
  const parameters = reader.read();
  // A page that requests an organic click without an ad click ID does not use those left in its URL, which were looked up before.
  const adClickIds =
    isOrganic && !hasOwnIds
      ? []
      : LANDING_AD_CLICK_IDS.flatMap((kind) => {
          const value = parameters.values[kind];
          const isGiven = value !== "" && (!hasOwnIds || isOwn(kind));
          return isGiven ? [{ kind, value }] : [];
        });
  return {
    clickId,
    adClickIds,
    parameters,
    referrer,
    offerCode: text("offer").trim(),
    affiliateCode: text("aff").trim(),
    isOrganic,
  };
}

function readClickId(value: unknown): string | undefined {
  if (value === undefined || value === null || value === "") return undefined;
  return (typeof value === "string" ? parseClickId(value.trim()) : undefined) ?? "invalid";
}

function parseJson(body: Uint8Array): { readonly value: unknown } | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(body);
    return { value: parseSentTexts(text, REPORT_BOUNDS) };
  } catch {
    // Neither text nor JSON, or more than a page has: the answer says so, and the page's author must find the fault.
    return undefined;
  }
}

/** A number is a text by now: a page may write a code of digits as a number. */
function textOf(value: unknown): string {
  // Half of a surrogate pair, which JSON can contain, has no UTF-8.
  return typeof value === "string" ? Buffer.from(value).toString() : "";
}

/**
 * The query of the page, then the query behind its `#`, where a page that is one program has its path (G247): `#/p?gclid=G`. A fragment
 * without a question mark, such as `#gclid=G`, may also be the answer of a sign-in with a token in it, so only ad-platform click IDs are read.
 */
function queriesOf(url: string): string[] {
  const hash = url.indexOf("#");
  const search = afterMark(hash < 0 ? url : url.slice(0, hash));
  if (hash < 0) return [search];
  const fragment = url.slice(hash + 1);
  return [search, fragment.includes("?") ? afterMark(fragment) : pairsOfAds(fragment)];
}

function afterMark(text: string): string {
  const mark = text.indexOf("?");
  return mark < 0 ? "" : text.slice(mark + 1);
}

function pairsOfAds(query: string): string {
  const pairs = query.split("&", FRAGMENT_PAIRS_MAX);
  return pairs.filter((pair) => FRAGMENT_IDS.has(pair.split("=", 1)[0] ?? "")).join("&");
}

function malformed(error: string): ReadLanding {
  return { kind: "malformed", error };
}
