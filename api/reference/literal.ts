const LINE_CHARACTERS_MAX = 72;

/** How a language writes values that JSON also has. */
export type LiteralStyle = {
  readonly key: (name: string) => string;
  readonly words: Readonly<Record<"true" | "false" | "null", string>>;
  readonly trailingComma: boolean;
};

const JSON_WORDS = { true: "true", false: "false", null: "null" };

export const JSON_STYLE: LiteralStyle = {
  key: (name) => JSON.stringify(name),
  words: JSON_WORDS,
  trailingComma: false,
};
export const TYPESCRIPT_STYLE: LiteralStyle = {
  key: (name) => (/^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name)),
  words: JSON_WORDS,
  trailingComma: true,
};
export const PYTHON_STYLE: LiteralStyle = {
  key: (name) => JSON.stringify(name),
  words: { true: "True", false: "False", null: "None" },
  trailingComma: true,
};

/** A JSON value as a literal. Objects and lists are on one line where they fit. `indent`: spaces before the line that it begins on. */
export function literal(value: unknown, style: LiteralStyle, indent = 0): string {
  if (value === null || typeof value === "boolean") {
    return style.words[value === null ? "null" : value ? "true" : "false"];
  }
  if (typeof value !== "object") return JSON.stringify(value);
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  const items = Array.isArray(value)
    ? value.map((item: unknown) => literal(item, style, indent + 2))
    : Object.entries(value).map(
        ([name, item]) => `${style.key(name)}: ${literal(item, style, indent + 2)}`,
      );
  if (items.length === 0) return `${open}${close}`;
  const space = open === "{" ? " " : "";
  const line = `${open}${space}${items.join(", ")}${space}${close}`;
  // The outermost object is always spread over lines.
  const isShort = indent > 0 && indent + line.length <= LINE_CHARACTERS_MAX;
  if (isShort && !line.includes("\n")) return line;
  const inner = " ".repeat(indent + 2);
  const end = style.trailingComma ? "," : "";
  return `${open}\n${inner}${items.join(`,\n${inner}`)}${end}\n${" ".repeat(indent)}${close}`;
}
