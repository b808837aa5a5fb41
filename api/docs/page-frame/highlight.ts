import { escapeMarkup } from "../../../schemas/macros/escape-markup.ts";

const WORDS: Readonly<Record<string, string>> = {
  ts: "as async await const else export for from function if import let new null return throw true false type undefined while",
  python: "as def else False for from if import in is None not print raise return True while with",
  sh: "do done for if in then while",
  php: "echo else exit foreach function if new null return true false",
  json: "true false null",
};
const SAME: Readonly<Record<string, string>> = {
  js: "ts",
  javascript: "ts",
  typescript: "ts",
  py: "python",
  bash: "sh",
  shell: "sh",
  jsonc: "json",
};
const HASH_COMMENTS = new Set(["sh", "python", "php"]);

const BLOCK = /<code class="language-(\w+)"([^>]*)>([\s\S]*?)<\/code>/g;

/** Marks strings, comments, numbers and keywords in the `<code class="language-x">` blocks of a page. */
export function highlightBlocks(html: string): string {
  return html.replaceAll(BLOCK, (block, name: string, attributes: string, code: string) => {
    const language = SAME[name] ?? name;
    const words = WORDS[language];
    if (words === undefined) return block;
    const marked = code.replaceAll(tokensOf(language, words), (token, ...groups) => {
      const kind = ["s", "c", "n", "k"][groups.slice(0, 4).findIndex((text) => text !== undefined)];
      return kind === undefined ? token : `<span class="t-${kind}">${token}</span>`;
    });
    return `<code class="language-${name}"${attributes}>${marked}</code>`;
  });
}

/** Matches strings, comments, numbers or keywords, one group each, in escaped text. Tags and entities match without a group. */
function tokensOf(language: string, words: string): RegExp {
  const quote = escapeMarkup('"');
  const single = escapeMarkup("'");
  const string = (mark: string): string => `${mark}(?:\\\\.|(?!${mark})[^\\n\\\\])*${mark}`;
  const strings = [string(quote), string(single), "`[^`]*`"].join("|");
  const comment = HASH_COMMENTS.has(language)
    ? "(?<=^|\\s)#(?!\\d+;).*$"
    : "(?<=^|\\s)//.*$|/\\*[\\s\\S]*?\\*/";
  // An address in a shell command is no number.
  const number = language === "sh" ? "(?!)()" : "\\b(\\d+(?:\\.\\d+)?)\\b";
  const keywords = `\\b(?:${words.split(" ").join("|")})\\b`;
  return new RegExp(`(${strings})|(${comment})|<[^>]+>|&#\\d+;|${number}|(${keywords})`, "gm");
}
