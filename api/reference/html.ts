const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Text for any place of a page, attributes too. */
export function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ESCAPES[character] ?? "");
}

/** Text of the document: `code` in backquotes, paragraphs between empty lines. */
export function prose(text: string): string {
  return text
    .split("\n\n")
    .map((part) => `<p>${inlineProse(part)}</p>`)
    .join("");
}

export function inlineProse(text: string): string {
  return escaped(text).replace(/`([^`]+)`/g, "<code>$1</code>");
}
