import { escapeMarkup } from "../../../schemas/macros/escape-markup.ts";

/** Renders a description of the OpenAPI document as HTML: `code` in backquotes, paragraphs between empty lines. */
export function prose(text: string): string {
  return text
    .split("\n\n")
    .map((part) => `<p>${inlineProse(part)}</p>`)
    .join("");
}

export function inlineProse(text: string): string {
  return escapeMarkup(text).replace(/`([^`]+)`/g, "<code>$1</code>");
}

export function codeBlock(language: string, code: string): string {
  return `<pre><code class="language-${language}">${escapeMarkup(code)}</code></pre>`;
}
