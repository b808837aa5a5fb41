/** What fits beside the text of a page. */
const LINE_CHARACTERS_MAX = 56;

/** How a language writes values that JSON also has. */
export type LiteralStyle = {
  readonly key: (name: string) => string;
  readonly words: Readonly<Record<"true" | "false" | "null", string>>;
  readonly trailingComma: boolean;
  /** Spaces of a level. */
  readonly step: number;
};

const JSON_WORDS = { true: "true", false: "false", null: "null" };

export const JSON_STYLE: LiteralStyle = {
  key: (name) => JSON.stringify(name),
  words: JSON_WORDS,
  trailingComma: false,
  step: 2,
};
export const TYPESCRIPT_STYLE: LiteralStyle = {
  key: (name) => (/^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name)),
  words: JSON_WORDS,
  trailingComma: true,
  step: 2,
};
export const PYTHON_STYLE: LiteralStyle = {
  key: (name) => JSON.stringify(name),
  words: { true: "True", false: "False", null: "None" },
  trailingComma: true,
  step: 4,
};

/** A JSON value as a literal. Objects and lists are on one line where they fit. `indent`: spaces before the line that it begins on. */
export function literal(value: unknown, style: LiteralStyle, indent = 0): string {
  if (value === null) return style.words.null;
  if (typeof value === "boolean") return style.words[value ? "true" : "false"];
  if (typeof value !== "object") return JSON.stringify(value);
  const inside = (item: unknown): string => literal(item, style, indent + style.step);
  if (Array.isArray(value)) return enclosed(["[", "]"], value.map(inside), style, indent);
  const fields = Object.entries(value).map(([name, item]) => `${style.key(name)}: ${inside(item)}`);
  return enclosed(["{ ", " }"], fields, style, indent);
}

function enclosed(
  [open, close]: readonly [string, string],
  items: readonly string[],
  { trailingComma, step }: LiteralStyle,
  indent: number,
): string {
  if (items.length === 0) return `${open}${close}`.replaceAll(" ", "");
  const line = `${open}${items.join(", ")}${close}`;
  // The outermost object is always spread over lines.
  const fits = indent > 0 && indent + line.length <= LINE_CHARACTERS_MAX && !line.includes("\n");
  if (fits) return line;
  const inner = `\n${" ".repeat(indent + step)}`;
  const lines = `${inner}${items.join(`,${inner}`)}${trailingComma ? "," : ""}`;
  return `${open.trim()}${lines}\n${" ".repeat(indent)}${close.trim()}`;
}
