import { Marked, type RendererObject } from "marked";
import { escapeMarkup } from "../../../schemas/macros/escape-markup.ts";
import { GUIDE_TABLES } from "./guide-tables.ts";

export type RenderedPage = {
  /** The first paragraph, as plain text. */
  readonly description: string;
  readonly html: string;
};

/** Values of this installation, or of its demo, that stand in the examples until the reader's own replace them. */
export type OwnValues = Readonly<Record<string, string>>;

const TABLE = /^<!-- table: ([a-z-]+) -->$/gm;
/** The paragraph below the title. */
const LEAD = /^# .+\n\n((?:.+\n)+)/;
const OWN_VALUE = /\{\{([a-z_]+)\}\}/g;

/**
 * Renders a page of Markdown. `<!-- table: name -->` becomes a table made from the code's own lists, and `{{name}}` a value that the
 * script of the guide can replace. The Markdown is ours, so its HTML is trusted.
 *
 * @throws for an unknown table or value
 */
export function renderPage(markdown: string, values: OwnValues): RenderedPage {
  const filled = markdown.replaceAll(TABLE, (_line, name: string) => tableOf(name));
  const marked = new Marked({ async: false, gfm: true }, { renderer: RENDERER });
  const html = marked.parse(filled, { async: false });
  return {
    description: plainText(LEAD.exec(markdown)?.[1] ?? "", values),
    html: html.replaceAll(OWN_VALUE, (_mark, name: string) => ownValue(name, values)),
  };
}

/** @throws for a page that does not begin with its title */
export function titleOf(markdown: string): string {
  const title = /^# (.+)\n/.exec(markdown)?.[1];
  if (title === undefined) throw new Error("a page of the guide does not begin with its title");
  return title;
}

const RENDERER: RendererObject = {
  heading({ tokens, depth, text }) {
    return `<h${depth} id="${slugOf(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
  },
  /** A cell names its column, for screens that are too narrow for columns. */
  table({ header, rows }) {
    const heads = header.map(({ tokens }) => `<th>${this.parser.parseInline(tokens)}</th>`);
    const lines = rows.map((row) => {
      const cells = row.map(({ tokens }, column) => {
        const label = escapeMarkup((header[column]?.text ?? "").replaceAll("`", ""));
        return `<td data-label="${label}">${this.parser.parseInline(tokens)}</td>`;
      });
      return `<tr>${cells.join("")}</tr>`;
    });
    return `<table><thead><tr>${heads.join("")}</tr></thead><tbody>${lines.join("")}</tbody></table>\n`;
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
