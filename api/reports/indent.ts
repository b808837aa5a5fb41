/** Puts two spaces before each line. */
export function indent(text: string): string {
  return text.replaceAll(/^/gm, "  ");
}
