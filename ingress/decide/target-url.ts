import { decodePercent, escapedByte } from "../request/decode.ts";
import { judgeAuthority } from "./host-verdict.ts";

/** Longest `url=` after decoding, in characters. */
const TARGET_URL_LENGTH_MAX = 4_096;

const SPACES_AND_CONTROLS = /[\p{Cc} \\]/u;
const SCHEME = /^([a-zA-Z][a-zA-Z0-9+.-]*):/;
const HTTP = /^https?$/i;
const PRINTABLE_ASCII = /^[\x21-\x7e]*$/;
const PERCENT = 0x25;

/** Why a `url=` is refused, in the order of the checks (G137). The last two depend on the link. */
export const REFUSALS = [
  "duplicate_url",
  "empty",
  "too_long",
  "invalid",
  "scheme",
  "credentials",
  "ip_host",
  "local_host",
  "bad_host",
  "not_allowed",
  "unsafe_target",
] as const;
export type Refusal = (typeof REFUSALS)[number];

export type TargetUrl = {
  readonly refusal: Refusal | "";
  /** The value of `Location`: the decoded bytes, with those beyond ASCII percent-encoded. "" when refused. */
  readonly location: string;
  readonly host: string;
  /** "" when refused. */
  readonly port: string;
  /** What follows the authority: path, query and fragment. */
  readonly path: string;
};

/** Reads `url=` (G138) from all its values as sent, at least one. Allowlists are checked elsewhere. */
export function readTargetUrl(urls: readonly string[]): TargetUrl {
  const raw = urls[0] ?? "";
  const decoded = decodePercent(raw);
  if (hasOtherValue(urls, raw, decoded)) return refusedTarget("duplicate_url");
  if (decoded === "") return refusedTarget("empty");
  if (isLongerThan(decoded, TARGET_URL_LENGTH_MAX)) return refusedTarget("too_long");
  return readDecoded(raw, decoded);
}

function readDecoded(raw: string, decoded: string): TargetUrl {
  const scheme = SPACES_AND_CONTROLS.test(decoded) ? undefined : SCHEME.exec(decoded)?.[1];
  if (scheme === undefined) return refusedTarget("invalid");
  if (!HTTP.test(scheme)) return refusedTarget("scheme");
  const authorityAt = scheme.length + 3;
  if (!decoded.startsWith("//", scheme.length + 1)) return refusedTarget("invalid");
  const authorityEnd = endOfAuthority(decoded, authorityAt);
  if (authorityEnd === authorityAt) return refusedTarget("invalid");
  const verdict = judgeAuthority(decoded.slice(authorityAt, authorityEnd));
  if (verdict.refusal !== "") return refusedTarget(verdict.refusal);
  return {
    refusal: "",
    location: PRINTABLE_ASCII.test(decoded) ? decoded : asciiLocation(raw),
    host: verdict.host,
    port: verdict.port || (scheme.length === 5 ? "443" : "80"),
    path: decoded.slice(authorityEnd),
  };
}

function refusedTarget(refusal: Refusal): TargetUrl {
  return { refusal, location: "", host: "", port: "", path: "" };
}

/** Where the authority that begins at `from` ends: at the path, the query or the fragment. */
export function endOfAuthority(url: string, from: number): number {
  for (let i = from; i < url.length; i += 1) {
    const code = url.charCodeAt(i);
    if (code === 0x2f || code === 0x3f || code === 0x23) return i;
  }
  return url.length;
}

/** Percent-encodes every byte beyond ASCII, also in invalid UTF-8. Everything else is decoded once. */
export function asciiLocation(raw: string): string {
  const bytes = Buffer.from(raw, "utf8");
  let location = "";
  for (let i = 0; i < bytes.length; i += 1) {
    const escaped = bytes[i] === PERCENT ? escapedByte(bytes, i) : -1;
    const byte = escaped >= 0 ? escaped : (bytes[i] ?? 0);
    if (escaped >= 0) i += 2;
    location += byte < 0x80 ? String.fromCharCode(byte) : `%${byte.toString(16).toUpperCase()}`;
  }
  return location;
}

/** Several identical values are one value (T17). */
function hasOtherValue(urls: readonly string[], raw: string, decoded: string): boolean {
  for (let i = 1; i < urls.length; i += 1) {
    const other = urls[i] ?? "";
    if (other !== raw && decodePercent(other) !== decoded) return true;
  }
  return false;
}

/** Counts characters, although JavaScript stores some of them as two code units. */
function isLongerThan(text: string, lengthMax: number): boolean {
  if (text.length <= lengthMax) return false;
  let length = 0;
  for (const _ of text) length += 1;
  return length > lengthMax;
}
