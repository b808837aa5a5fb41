import { Marked, type RendererObject, type Token } from "marked";
import { escapeMarkup } from "../../schemas/macros/escape-markup.ts";
import { GUIDE_TABLES } from "./guide-tables.ts";

export type RenderedPage = {
  readonly title: string;
  /** The first paragraph, as plain text. */
  readonly description: string;
  readonly html: string;
};

/** Values of this installation, or of its demo, that stand in the examples until the reader's own replace them. */
export type OwnValues = Readonly<Record<string, string>>;

const TABLE = /^<!-- table: ([a-z-]+) -->$/gm;
const OWN_VALUE = /\{\{([a-z_]+)\}\}/g;

/**
 * Renders a page of Markdown. `<!-- table: name -->` becomes a table made from the code's own lists, and `{{name}}` a value that the
 * script of the guide can replace. The Markdown is ours, so its HTML is trusted.
 *
 * @throws for an unknown table or value, and for a page without a title
 */
export function renderPage(markdown: string, values: OwnValues): RenderedPage {
  const filled = markdown.replaceAll(TABLE, (_line, name: string) => tableOf(name));
  const marked = new Marked({ async: false, gfm: true }, { renderer: RENDERER });
  const [heading, ...rest] = marked.lexer(filled);
  if (heading?.type !== "heading") throw new Error("the page does not begin with its title");
  const lead = rest.find((token) => token.type === "paragraph");
  const html = marked.parse(filled, { async: false });
  return {
    title: plainText(textOf(heading), values),
    description: plainText(textOf(lead), values),
    html: html.replaceAll(OWN_VALUE, (_mark, name: string) => ownValue(name, values)),
  };
}

const RENDERER: RendererObject = {
  heading({ tokens, depth, text }) {
    return `<h${depth} id="${slugOf(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
  },
  /** Words after the language tell the test of the examples how to run a block. */
  code({ text, lang = "" }) {
    const [language = "", ...rest] = lang.split(" ");
    const marks = rest.length === 0 ? "" : ` data-example="${escapeMarkup(rest.join(" "))}"`;
    return `<pre><code class="language-${escapeMarkup(language)}"${marks}>${escapeMarkup(text)}\n</code></pre>\n`;
  },
};

/** The id of a heading, as on code hosts: `What a partner sees` → `what-a-partner-sees`. */
function slugOf(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^\w\s-]/g, "")
    .trim()
    .replaceAll(/\s+/g, "-");
}

function textOf(token: Token | undefined): string {
  return token !== undefined && "text" in token ? String(token.text) : "";
}

function plainText(markdown: string, values: OwnValues): string {
  return markdown
    .replaceAll(OWN_VALUE, (_mark, name: string) => valueOf(name, values))
    .replaceAll(/\[([^\]]+)\]\([^)]+\)/g, "$1")
    .replaceAll(/[`*]/g, "")
    .replaceAll("\n", " ");
}

function ownValue(name: string, values: OwnValues): string {
  return `<span data-own="${name}">${escapeMarkup(valueOf(name, values))}</span>`;
}

function valueOf(name: string, values: OwnValues): string {
  const value = values[name];
  if (value === undefined) throw new Error(`the guide names an unknown value: ${name}`);
  return value;
}

function tableOf(name: string): string {
  const { [name]: table } = GUIDE_TABLES;
  if (table === undefined) throw new Error(`the guide names an unknown table: ${name}`);
  const lines = [table.head, table.head.map(() => "---"), ...table.rows];
  return lines.map((cells) => `| ${cells.map(cellText).join(" | ")} |`).join("\n");
}

function cellText(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("\n", " ");
}
