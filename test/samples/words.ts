/** The words of a text, which white space separates: a long list of names on few lines. */
export function words(text: string): string[] {
  return text.trim().split(/\s+/);
}
