/** Escapes text for HTML or XML, including attributes. */
export function escapeMarkup(text: string): string {
  return text.replaceAll(/[&<>"']/g, (found) => `&#${found.charCodeAt(0)};`);
}
