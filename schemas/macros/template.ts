/** A text split at its macros. `texts` has one element more than `macros`, and they alternate. */
export type Template<Macro extends string> = {
  readonly texts: readonly string[];
  readonly macros: readonly Macro[];
};

const MACRO = /\{([a-z][a-z0-9_]*)\}/g;

/** Splits `text` at the macros in `known`. Anything else in braces is ordinary text (G125, G148). */
export function parseTemplate<Macro extends string>(
  text: string,
  known: readonly Macro[],
): Template<Macro> {
  const texts: string[] = [];
  const macros: Macro[] = [];
  let from = 0;
  for (const match of text.matchAll(MACRO)) {
    const macro = known.find((name) => name === match[1]);
    if (macro === undefined) continue;
    texts.push(text.slice(from, match.index));
    macros.push(macro);
    from = match.index + match[0].length;
  }
  texts.push(text.slice(from));
  return { texts, macros };
}
