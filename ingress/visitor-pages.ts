const STYLE =
  ":root{color-scheme:light dark}body{margin:0;min-height:100vh;display:grid;place-items:center;" +
  "font:18px/1.5 system-ui,sans-serif}p{margin:1.5rem;max-width:28rem;text-align:center}";

/** For a click without a destination and for a link that does not exist. Shows neither brand nor reason (G150). */
export const UNAVAILABLE_PAGE: string = visitorPage(
  "Link not available",
  "This link is not available.",
);

/** For the bare host. The page does not say whose host it is. */
export const HOST_PAGE: string = visitorPage(
  "Links",
  "This address serves links. There is nothing else to see here.",
);

/** A page for people: no script, nothing to load. */
function visitorPage(title: string, sentence: string): string {
  return (
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="robots" content="noindex">' +
    `<meta name="viewport" content="width=device-width"><title>${title}</title><style>${STYLE}</style></head>` +
    `<body><p>${sentence}</p></body></html>\n`
  );
}
