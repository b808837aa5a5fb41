import { expandUrlTemplate } from "../../schemas/macros/expand.ts";
import type { DestinationMacro, ParameterMacro } from "../../schemas/macros/macro-names.ts";
import { parseDestination } from "../../schemas/macros/template.ts";
import { punycodeHost } from "../../schemas/net/punycode-host.ts";
import { judgeAuthority } from "./host-verdict.ts";
import { asciiLocation, endOfAuthority, readTargetUrl } from "./target-url.ts";

export type MacroName = DestinationMacro | ParameterMacro;

/** A URL of the catalog to which visitors may be redirected. */
export type Destination = {
  /** Undefined when the URL is invalid or too long with these values (`bad_destination`). */
  readonly expand: (valueOf: (macro: MacroName) => string) => string | undefined;
  /** Host of the URL; "" if a macro is part of it. */
  readonly host: string;
};

/**
 * Most characters of a URL with its values. Without a bound, 290 times `{gclid}` and an ID of 512 Chinese characters make a record
 * of 1.3 MB, which many NATS servers refuse: its lane would never ship again.
 */
export const LOCATION_LENGTH_MAX = 16_384;
const HTTP_URL = /^https?:\/\//i;
const FORBIDDEN = /[\p{Cc} \\]/u;
const NOWHERE: Destination = { expand: () => undefined, host: "" };

/**
 * Compiles a destination or fallback URL; undefined for "". Staff may name any http(s) host, also an address of the local
 * network. With a macro in the host, the visitor chooses the host, so it must pass the checks of a `url=`.
 */
export function compileDestination(url: string): Destination | undefined {
  if (url === "") return undefined;
  if (FORBIDDEN.test(url) || !HTTP_URL.test(url)) return NOWHERE;
  // Escapes stay as written: only characters that no header can carry are rewritten.
  // A host in another script was saved before hosts were kept in punycode (G246).
  const template = parseDestination(asciiLocation(punycodeHost(url).replaceAll("%", "%25")));
  const head = template.texts[0] ?? "";
  const authorityAt = head.indexOf("//") + 2;
  const authorityEnd = endOfAuthority(head, authorityAt);
  const isFixed = authorityEnd < head.length || template.macros.length === 0;
  if (!isFixed) {
    return {
      host: "",
      expand: (valueOf) => {
        const expanded = expandUrlTemplate(template, valueOf);
        return isTarget(expanded) ? expanded : undefined;
      },
    };
  }
  if (!URL.canParse(head)) return NOWHERE;
  return {
    host: judgeAuthority(head.slice(authorityAt, authorityEnd)).host,
    // Values are percent-encoded: after the host no value can make the URL invalid.
    expand: (valueOf) => {
      const expanded = expandUrlTemplate(template, valueOf);
      return expanded.length <= LOCATION_LENGTH_MAX ? expanded : undefined;
    },
  };
}

function isTarget(url: string): boolean {
  // The checks of `url=` decode escapes, so escape them once more.
  return readTargetUrl([url.replaceAll("%", "%25")]).refusal === "";
}
