/** How a file is to be read, as the API names it. */
export type FileForm = {
  readonly format: "csv" | "json";
  /** For CSV. */
  readonly delimiter: "," | ";" | "tab";
};

const JSON_NAME = /\.(json|jsonl|ndjson)$/i;
const DELIMITERS: readonly (readonly [character: string, name: FileForm["delimiter"]])[] = [
  [",", ","],
  [";", ";"],
  ["\t", "tab"],
];

/** How spreadsheets name the character between cells. */
const SEPARATOR_LINE = /^sep=(.)(?=[\r\n]).*/is;

/** What the name and the beginning of a file say about its form. */
export function guessForm(name: string, beginning: string): FileForm {
  const text = beginning.replace(/^\uFEFF/, "").trimStart();
  const isJson = JSON_NAME.test(name) || (!/\.csv$/i.test(name) && /^[[{]/.test(text));
  return { format: isJson ? "json" : "csv", delimiter: delimiterIn(text) };
}

/** The delimiter that the first line has most often outside of quotes. */
function delimiterIn(text: string): FileForm["delimiter"] {
  const [line = ""] = text.replace(SEPARATOR_LINE, "$1").split(/\r\n|\n|\r/, 1);
  const plain = line.replaceAll(/"[^"]*"/g, "");
  const counted = DELIMITERS.map(
    ([character, name]) => [name, plain.split(character).length] as const,
  );
  return counted.toSorted(([, a], [, b]) => b - a)[0]?.[0] ?? ",";
}
