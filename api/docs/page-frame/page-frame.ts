import { escapeMarkup } from "../../../schemas/macros/escape-markup.ts";
import { highlightBlocks } from "./highlight.ts";

/** A page of the documentation, and the sidebar of the set it belongs to. */
export type FramedPage = {
  readonly title: string;
  readonly description: string;
  /** Where this page is on this origin. Marks the active link of the sidebar. */
  readonly path: string;
  readonly groups: readonly {
    readonly title: string;
    /** A link to a section of the page, `<path>#<id>`, becomes active while the section is in view. */
    readonly links: readonly { readonly href: string; readonly text: string }[];
  }[];
  /** HTML. Code in `<pre><code class="language-x">` is highlighted and gets a copy button. */
  readonly body: string;
  /** Addresses of further scripts, on this origin. */
  readonly scripts?: readonly string[];
};

export const FRAME_STYLE = "/docs/frame.css";
export const FRAME_SCRIPT = "/docs/frame.js";
export const SEARCH_INDEX = "/api/v1/docs/search.json";

/** Scripts, styles and requests of this origin only, and nothing inline. */
export const FRAMED_PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const PLACES = [
  { href: "/docs", text: "Guide" },
  { href: "/api/v1/docs", text: "API reference" },
];

/** The whole page: head, top bar, sidebar and body. */
export function pageFrame(page: FramedPage): string {
  const { title, description, path, body, scripts = [] } = page;
  const loaded = scripts.map((source) => `<script src="${escapeMarkup(source)}" defer></script>`);
  return `<!doctype html>
<html lang="en" data-search="${SEARCH_INDEX}"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeMarkup(title)}</title><meta name="description" content="${escapeMarkup(description)}">
<link rel="icon" href="data:,"><link rel="stylesheet" href="${FRAME_STYLE}">
<script src="${FRAME_SCRIPT}"></script>${loaded.join("")}</head>
<body><a class="skip" href="#content">Skip to content</a>
<header class="bar"><button type="button" class="menu-button" popovertarget="menu" aria-label="Menu">☰</button>
<a class="brand" href="/docs">Affiliate tracker</a>
<span class="places">${PLACES.map((place) => placeLink(place, path)).join("")}</span>
<button type="button" class="search-button" hidden>Search <kbd>/</kbd></button>
<button type="button" class="theme-button" aria-label="Light or dark" title="Light or dark" hidden>◐</button></header>
<div class="page"><nav id="menu" popover aria-label="Pages">${menuOf(page)}</nav>
<main id="content">${highlightBlocks(body)}</main></div>
<dialog class="search" aria-label="Search"><input type="search" aria-label="Search the reference" placeholder="Search calls, fields and errors" autocomplete="off" spellcheck="false">
<ul></ul><p class="search-note">↑ ↓ to choose, Enter to open, Esc to close</p></dialog></body></html>
`;
}

function placeLink({ href, text }: (typeof PLACES)[number], path: string): string {
  const isHere = path === href || path.startsWith(`${href}/`);
  return `<a href="${href}"${isHere ? ' class="here"' : ""}>${text}</a>`;
}

function menuOf({ groups, path }: FramedPage): string {
  const parts = groups.map(({ title, links }) => {
    const items = links.map(({ href, text }) => {
      const current = href === path ? ' aria-current="page"' : "";
      const inside = href.startsWith(`${path}#`) ? ' class="section"' : "";
      return `<li><a href="${escapeMarkup(href)}"${current}${inside}>${escapeMarkup(text)}</a></li>`;
    });
    return `<p>${escapeMarkup(title)}</p><ul>${items.join("")}</ul>`;
  });
  return parts.join("");
}
