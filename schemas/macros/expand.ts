import type { Template } from "./template.ts";

const UNRESERVED = /^[A-Za-z0-9_.~-]*$/;
const LONE_SURROGATE = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g;

/** Replaces every macro with its unencoded value. Not for URLs. */
export function expandTemplate<Macro extends string>(
  template: Template<Macro>,
  valueOf: (macro: Macro) => string,
): string {
  const { texts, macros } = template;
  let text = texts[0] ?? "";
  for (let i = 0; i < macros.length; i += 1) {
    const macro = macros[i];
    if (macro !== undefined) text += valueOf(macro) + (texts[i + 1] ?? "");
  }
  return text;
}

/** Replaces every macro with its percent-encoded value, so that no value can change the structure of a URL. */
export function expandUrlTemplate<Macro extends string>(
  template: Template<Macro>,
  valueOf: (macro: Macro) => string,
): string {
  const { texts, macros } = template;
  let url = texts[0] ?? "";
  for (let i = 0; i < macros.length; i += 1) {
    const macro = macros[i];
    if (macro !== undefined) url += encodeValue(valueOf(macro)) + (texts[i + 1] ?? "");
  }
  return url;
}

/** `encodeURIComponent` that never throws: half a surrogate pair becomes U+FFFD. */
export function encodeValue(value: string): string {
  if (UNRESERVED.test(value)) return value;
  return encodeURIComponent(value.replace(LONE_SURROGATE, "\uFFFD"));
}
