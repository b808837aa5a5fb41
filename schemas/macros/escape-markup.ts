/** Text for any place of HTML or XML, attributes too. */
export function escapeMarkup(text: string): string {
  return text.replaceAll(/[&<>"']/g, (found) => `&#${found.charCodeAt(0)};`);
}
