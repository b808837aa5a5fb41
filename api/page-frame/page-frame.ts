import { escapeMarkup } from "../../schemas/macros/escape-markup.ts";

/** A page of the documentation, and the sidebar of the set it belongs to. */
export type FramedPage = {
  readonly title: string;
  readonly description: string;
  /** Of this page on this origin. Marks the active link of the sidebar. */
  readonly path: string;
  readonly groups: readonly {
    readonly title: string;
    readonly links: readonly { readonly href: string; readonly text: string }[];
  }[];
  /** HTML. */
  readonly body: string;
  /** Addresses of further scripts, on this origin. */
  readonly scripts?: readonly string[];
};

/** The whole page: head, sidebar and body. */
export function pageFrame({
  title,
  description,
  path,
  groups,
  body,
  scripts = [],
}: FramedPage): string {
  const menu = groups.map(({ title: name, links }) => {
    const items = links.map(({ href, text }) => {
      const current = href === path ? ' aria-current="page"' : "";
      return `<a href="${escapeMarkup(href)}"${current}>${escapeMarkup(text)}</a>`;
    });
    return `<b>${escapeMarkup(name)}</b>${items.join("")}`;
  });
  const sources = ["/docs/frame.js", ...scripts];
  const loaded = sources.map((source) => `<script src="${escapeMarkup(source)}" defer></script>`);
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeMarkup(title)}</title><meta name="description" content="${escapeMarkup(description)}">
<link rel="stylesheet" href="/docs/frame.css">${loaded.join("")}</head>
<body><div class="page"><nav>${menu.join("")}</nav><main>${body}</main></div></body></html>
`;
}
