import { readFile } from "node:fs/promises";
import type { FastifyInstance } from "fastify";
import { projectFile } from "../../../schemas/host/project-root.ts";
import { StaticText, serveStatic } from "../../http/static-text.ts";
import { FRAMED_PAGE_POLICY, type FramedPage, pageFrame } from "../page-frame/page-frame.ts";
import { GUIDE_GROUPS, pathOfPage } from "./guide-groups.ts";
import { type OwnValues, renderPage, titleOf } from "./render-page.ts";

/** The reader may type a key into the page. */
const PAGE_HEADERS = {
  "content-security-policy": FRAMED_PAGE_POLICY,
  "referrer-policy": "no-referrer",
  "cache-control": "public, max-age=300",
};

const SCRIPT = {
  name: "own-codes.js",
  path: "/docs/own-codes.js",
  type: "text/javascript; charset=utf-8",
};
const STYLE = {
  name: "own-codes.css",
  path: "/docs/own-codes.css",
  type: "text/css; charset=utf-8",
};

export type GuideAddresses = { readonly apiUrl: string; readonly trackingUrl: string };

/** Serves the integration guide: `/docs`, and one page below it for each subject. It needs no key and shows no data of any workspace. */
export async function serveGuide(app: FastifyInstance, addresses: GuideAddresses): Promise<void> {
  const pages = await readPages();
  const groups = menuOf(pages);
  const values = ownValues(addresses);
  for (const [name, { markdown, title }] of pages) {
    const path = pathOfPage(name);
    const served = new StaticText("text/html; charset=utf-8", () => {
      const { html, description } = renderPage(markdown, values);
      return pageFrame({
        title: `${title} · Integration guide`,
        description,
        path,
        groups,
        body: `<link rel="stylesheet" href="${STYLE.path}">${html}${nextLink(pages, name)}`,
        scripts: [SCRIPT.path],
      });
    });
    for (const address of name === "start" ? [path, `${path}/`] : [path])
      app.get(address, (request, reply) => served.send(request, reply.headers(PAGE_HEADERS)));
  }
  for (const { name, path, type } of [SCRIPT, STYLE]) {
    const text = await readFile(projectFile("api", "docs", "guide", name), "utf8");
    serveStatic(app, { path, contentType: type, text });
  }
}

type Page = { readonly title: string; readonly markdown: string };

/** All pages by name, in the order of the sidebar. They are rendered when they are asked for: all of them take 0.2 s. */
async function readPages(): Promise<ReadonlyMap<string, Page>> {
  const names = GUIDE_GROUPS.flatMap(({ pages }) => pages);
  const read = names.map(async (name): Promise<[string, Page]> => {
    const markdown = await readFile(
      projectFile("api", "docs", "guide", "pages", `${name}.md`),
      "utf8",
    );
    return [name, { markdown, title: titleOf(markdown) }];
  });
  return new Map(await Promise.all(read));
}

/** The addresses of this installation, and the codes of its demo. */
function ownValues({ apiUrl, trackingUrl }: GuideAddresses): OwnValues {
  return {
    api_url: `${apiUrl}/api/v1`,
    tracking_url: trackingUrl,
    offer: "DEMOSHOP",
    sale_offer: "DEMOSALE",
    partner: "DEMOANNA",
    smart_link: "DEMOSMART",
    token: "$POSTBACK_TOKEN",
  };
}

function menuOf(pages: ReadonlyMap<string, Page>): FramedPage["groups"] {
  return GUIDE_GROUPS.map(({ title, pages: names }) => ({
    title,
    links: names.map((name) => ({ href: pathOfPage(name), text: pages.get(name)?.title ?? name })),
  }));
}

function nextLink(pages: ReadonlyMap<string, Page>, name: string): string {
  const names = [...pages.keys()];
  const next = names[names.indexOf(name) + 1];
  const title = next === undefined ? undefined : pages.get(next)?.title;
  if (next === undefined || title === undefined) return "";
  return `<p class="next"><a href="${pathOfPage(next)}">Next: ${title}</a></p>`;
}
