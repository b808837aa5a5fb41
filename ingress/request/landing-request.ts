import { LANDING_AD_CLICK_IDS, type LandingAdClickId } from "../../schemas/events/click-lookup.ts";
import { AD_CLICK_ID_LENGTH_MAX } from "../../schemas/events/click-record.ts";
import { parseClickId } from "../../schemas/ids/click-id.ts";
import { type ClickParameters, LANDING_PARAMETERS, ParameterReader } from "./parameters.ts";
import { referrerSource } from "./referrer-source.ts";

/** What a landing page says of the visit (G160). Texts are "" when absent. */
export type LandingRequest = {
  readonly clickId: string | undefined;
  /** Ids to look the click up by, in their order. */
  readonly adClickIds: readonly { readonly kind: LandingAdClickId; readonly value: string }[];
  /** What a click made for this visit carries. */
  readonly parameters: ClickParameters;
  /** Of the page, that is where the visitor came from. */
  readonly referrer: string;
  readonly offerCode: string;
  readonly affiliateCode: string;
  readonly isOrganic: boolean;
};

export type ReadLanding =
  | { readonly kind: "landing"; readonly landing: LandingRequest }
  | { readonly kind: "malformed"; readonly error: string };

const AD_CLICK_IDS = [...LANDING_AD_CLICK_IDS, "msclkid"] as const;
const SUBS = ["sub1", "sub2", "sub3", "sub4", "sub5", "sub6", "sub7", "sub8", "sub9", "sub10"];

/**
 * Reads the body of `POST /lp`, whatever its content type says (T48). Values of the body go before those of the page's URL;
 * what is no text there is as good as absent, except for what a click is found by.
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
  const told = new ParameterReader(LANDING_PARAMETERS);
  for (const name of [...AD_CLICK_IDS, ...SUBS]) told.add(name, text(name));
  const hasOwnIds = LANDING_AD_CLICK_IDS.some((kind) => text(kind) !== "");
  if (isOrganic) {
    const { platform, host, path } = referrerSource(referrer, url);
    told.add("sub1", platform).add("sub2", host).add("sub3", path);
  }
  const parameters = told.addQuery(queryOf(url)).read();
  // A page that asks for an organic click has none of an ad: an id left in its URL has been asked for before.
  const adClickIds =
    isOrganic && !hasOwnIds
      ? []
      : LANDING_AD_CLICK_IDS.flatMap((kind) => {
          const value = parameters.values[kind];
          const isAsked = value !== "" && (!hasOwnIds || text(kind) !== "");
          return isAsked ? [{ kind, value }] : [];
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
    return { value: JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body)) };
  } catch {
    // Neither text nor JSON: the answer says so, and what is wrong with it is the page's to find.
    return undefined;
  }
}

/** Codes may be digits, which a page may write as a number. */
function textOf(value: unknown): string {
  if (typeof value === "number") return String(value);
  // Half of a surrogate pair, which JSON can hold, has no UTF-8.
  return typeof value === "string" ? Buffer.from(value).toString() : "";
}

function queryOf(url: string): string {
  const withoutFragment = url.split("#", 1)[0] ?? "";
  const mark = withoutFragment.indexOf("?");
  return mark < 0 ? "" : withoutFragment.slice(mark + 1);
}

function malformed(error: string): ReadLanding {
  return { kind: "malformed", error };
}
