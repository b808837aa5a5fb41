import {
  DESTINATION_MACROS,
  PARTNER_POSTBACK_MACROS,
  STAFF_POSTBACK_MACROS,
} from "../../schemas/macros/macro-names.ts";
import { nearestName } from "../../schemas/names/nearest-name.ts";
import type { FieldFaults } from "../operation/operation.ts";
import { shownName } from "./unknown-parameters.ts";

/** A field with macros: which it may use, and how to write braces that are no macro. */
export type MacroField = {
  readonly known: readonly string[];
  /** Macros that exist, but not for this author. */
  readonly refused: readonly string[];
  readonly literalHint: string;
  /** Whether `{param:name}` is a macro. */
  readonly hasParameters?: boolean;
};

type Values = Readonly<Record<string, unknown>>;

/** A parameter of the link between braces, in a URL that a click is sent to (G244). */
const PARAMETER = /\{param:([^{}]*)\}/gi;
const PARAMETER_NAME = /^[A-Za-z0-9_.-]{1,64}$/;

/** A name directly between braces. Expansion takes lower-case names only, so `{Click_ID}` is a mistake to report, too. */
const ATTEMPT = /\{([A-Za-z0-9_]+)\}/g;
const IN_URL = "write braces that are not a macro as %7B and %7D";
const IN_TEXT = "put a space inside braces that are not a macro";

/** URLs that a click is sent to (G148). */
export const destinationMacros: MacroField = {
  known: DESTINATION_MACROS,
  refused: [],
  literalHint: IN_URL,
  hasParameters: true,
};

/** `url` and `body` of a postback. A partner's postback has no values that only staff may see (G125). */
export function postbackMacros(isPartners: boolean): Readonly<Record<"url" | "body", MacroField>> {
  const known: readonly string[] = isPartners ? PARTNER_POSTBACK_MACROS : STAFF_POSTBACK_MACROS;
  const refused = STAFF_POSTBACK_MACROS.filter((name) => !known.includes(name));
  return {
    url: { known, refused, literalHint: IN_URL },
    body: { known, refused, literalHint: IN_TEXT },
  };
}

/**
 * Refuses a macro that would be sent literally: a misspelled one, or one that its author may not use. A field that keeps its stored
 * value is not checked: unknown macros saved before stay as they are (G125, G148).
 */
export function macroFaults(
  fields: Readonly<Record<string, MacroField>>,
  { body, before = {} }: { readonly body: Values; readonly before?: Values },
): FieldFaults {
  const faults: Record<string, string> = {};
  for (const [name, field] of Object.entries(fields)) {
    const text = body[name];
    if (typeof text !== "string" || text === before[name]) continue;
    const fault = firstFault(text, field);
    if (fault !== undefined) faults[name] = fault;
  }
  return faults;
}

function firstFault(text: string, field: MacroField): string | undefined {
  const { known, refused, literalHint, hasParameters = false } = field;
  for (const [macro, name = ""] of hasParameters ? text.matchAll(PARAMETER) : []) {
    if (!macro.startsWith("{param:") || !PARAMETER_NAME.test(name))
      return "expected {param:name} with the name of a parameter: 1 to 64 letters, digits, _ . or -";
  }
  for (const [, name = ""] of text.matchAll(ATTEMPT)) {
    if (known.includes(name)) continue;
    if (refused.includes(name)) return `{${name}} is available only in postbacks of your team`;
    const nearest = nearestName(name, known) ?? "";
    return `unknown macro {${shownName(name)}}: the nearest known one is {${nearest}}; ${literalHint}`;
  }
  return undefined;
}
