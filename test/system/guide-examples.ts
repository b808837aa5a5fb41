import { GUIDE_GROUPS, pathOfPage } from "../../api/docs/guide/guide-groups.ts";

/** A block of code of the guide, as a reader sees it. */
export type GuideExample = {
  readonly page: string;
  readonly language: string;
  /** Words after the language: how the block is run. */
  readonly marks: readonly string[];
  readonly text: string;
};

export const GUIDE_PAGES: readonly string[] = GUIDE_GROUPS.flatMap(({ pages }) => pages);

const BLOCK = /<pre><code class="language-(\w*)"([^>]*)>([\s\S]*?)<\/code><\/pre>/g;
const MARKS = /data-example="([^"]*)"/;

/** The examples of one page, from the page that the api serves at this origin. */
export async function readExamples(apiOrigin: string, page: string): Promise<GuideExample[]> {
  const answer = await fetch(`${apiOrigin}${pathOfPage(page)}`);
  if (answer.status !== 200) throw new Error(`${pathOfPage(page)}: HTTP ${answer.status}`);
  return examplesIn(page, await answer.text());
}

function examplesIn(page: string, html: string): GuideExample[] {
  return [...html.matchAll(BLOCK)].map(([, language = "", attributes = "", code = ""]) => ({
    page,
    language,
    marks: MARKS.exec(attributes)?.[1]?.split(" ") ?? [],
    text: textOf(code),
  }));
}

const ENTITIES: Readonly<Record<string, string>> = { lt: "<", gt: ">", quot: '"', amp: "&" };

/** The text of HTML without its tags. */
export function textOf(html: string): string {
  return html
    .replaceAll(/<[^>]*>/g, "")
    .replaceAll(/&(?:#(\d+)|(\w+));/g, (entity, code: string | undefined, name: string) =>
      code === undefined ? (ENTITIES[name] ?? entity) : String.fromCodePoint(Number(code)),
    );
}

/** IDs and times, which differ in every run, as words. */
export function withoutIds(text: string): string {
  return text
    .replaceAll(/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, "<uuid>")
    .replaceAll(/\b[0-9a-f]{64}\b/g, "<signature>")
    .replaceAll(/\b[0-9a-f]{32}\b/g, "<click id>")
    .replaceAll(/\b\d{4}-\d\d-\d\dT[\d:.]+Z/g, "<time>")
    .replaceAll(/\b\d{4}-\d\d-\d\d\b/g, "<day>")
    .replaceAll(/\b1[78]\d{8}\b/g, "<seconds>");
}

/** JSON for a comparison: IDs and times in its texts are words. */
export function comparable(json: string): unknown {
  return JSON.parse(json, (_key, value: unknown) =>
    typeof value === "string" ? withoutIds(value) : value,
  );
}
