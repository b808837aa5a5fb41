import { DESTINATION_MACROS, type DestinationMacro, type ParameterMacro } from "./macro-names.ts";

/** A text split at its macros. `texts` has one element more than `macros`, and they alternate. */
export type Template<Macro extends string> = {
  readonly texts: readonly string[];
  readonly macros: readonly Macro[];
};

const MACRO = /\{([a-z][a-z0-9_]*)\}/g;
const MACRO_OR_PARAMETER = /\{([a-z][a-z0-9_]*|param:[A-Za-z0-9_.-]{1,64})\}/g;

/** Splits `text` at the macros in `known`. Anything else in braces is ordinary text (G125, G148). */
export function parseTemplate<Macro extends string>(
  text: string,
  known: readonly Macro[],
): Template<Macro> {
  return splitAt(text, MACRO, (name) => known.find((macro) => macro === name));
}

/** The same for the URL of an offer, whose macros include the parameters of the link. */
export function parseDestination(text: string): Template<DestinationMacro | ParameterMacro> {
  return splitAt(text, MACRO_OR_PARAMETER, (name) =>
    isParameter(name) ? name : DESTINATION_MACROS.find((macro) => macro === name),
  );
}

export function isParameter(macro: string): macro is ParameterMacro {
  return macro.startsWith("param:");
}

function splitAt<Macro extends string>(
  text: string,
  pattern: RegExp,
  macroOf: (name: string) => Macro | undefined,
): Template<Macro> {
  const texts: string[] = [];
  const macros: Macro[] = [];
  let from = 0;
  for (const match of text.matchAll(pattern)) {
    const macro = macroOf(match[1] ?? "");
    if (macro === undefined) continue;
    texts.push(text.slice(from, match.index));
    macros.push(macro);
    from = match.index + match[0].length;
  }
  texts.push(text.slice(from));
  return { texts, macros };
}
