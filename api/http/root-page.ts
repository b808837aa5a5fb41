import { createHash } from "node:crypto";
import type { FastifyInstance } from "fastify";
import { buildInfo } from "../../schemas/host/build-info.ts";
import { escapeMarkup } from "../../schemas/macros/escape-markup.ts";
import { acceptsHtml, prefersJson } from "../../schemas/net/prefers-html.ts";

/** What is here, by path. */
const PLACES = [
  { name: "console", path: "/console/", title: "Console", about: "for people who sign in" },
  { name: "guide", path: "/docs", title: "Guide", about: "how to integrate, with examples" },
  {
    name: "reference",
    path: "/api/v1/docs",
    title: "Reference",
    about: "every operation of the REST API",
  },
  {
    name: "openapi",
    path: "/api/v1/openapi.json",
    title: "OpenAPI",
    about: "the same for programs",
  },
  { name: "mcp", path: "/mcp", title: "MCP", about: "for assistants; they send POST" },
  { name: "health", path: "/health", title: "Health", about: "whether the API can answer" },
] as const;

const NAME = "Affiliate tracker API";
/** Nothing here is for search engines (G243). */
const ROBOTS = "User-agent: *\nDisallow: /\n";
const STYLE =
  ":root{color-scheme:light dark}body{margin:0 auto;padding:2rem 1.25rem;max-width:40rem;font:16px/1.55 system-ui,sans-serif}" +
  "h1{font-size:1.5rem;margin:0}ul{list-style:none;padding:0}li{margin:.7rem 0;overflow-wrap:anywhere}" +
  "span,.dim{opacity:.7}li span{display:block}";
const POLICY = `default-src 'none'; style-src 'sha256-${createHash("sha256").update(STYLE).digest("base64")}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

/** `GET /robots.txt`, and `GET /`: where everything is. A page, also for monitors, which take anything; for programs that ask for JSON, the same as JSON. */
export function addRootPage(app: FastifyInstance): void {
  const page = rootPage();
  const document = JSON.stringify({
    name: NAME,
    version: buildInfo().version,
    ...Object.fromEntries(PLACES.map(({ name, path }) => [name, path])),
  });
  app.get("/robots.txt", async (_request, reply) =>
    reply.type("text/plain; charset=utf-8").send(ROBOTS),
  );
  app.get("/", async (request, reply) => {
    void reply.header("vary", "accept");
    const { accept = "" } = request.headers;
    if (!acceptsHtml(accept) || prefersJson(accept))
      return await reply.type("application/json; charset=utf-8").send(document);
    return await reply
      .type("text/html; charset=utf-8")
      .header("content-security-policy", POLICY)
      .send(page);
  });
}

function rootPage(): string {
  const places = PLACES.map(
    ({ path, title, about }) =>
      `<li><a href="${path}">${title}</a> <code>${path}</code><span>${escapeMarkup(about)}</span></li>`,
  );
  return (
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">' +
    `<meta name="robots" content="noindex"><title>${NAME}</title><style>${STYLE}</style></head><body>` +
    `<h1>${NAME}</h1><p class="dim">Version ${escapeMarkup(buildInfo().version)}</p><ul>${places.join("")}</ul></body></html>\n`
  );
}
