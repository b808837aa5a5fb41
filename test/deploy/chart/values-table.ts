import { isMap, isScalar, type Pair, parseDocument, type YAMLMap } from "yaml";

const TABLE = /(<!-- values: [^\n]*-->\n)[\s\S]*(<!-- end of values -->)/;
const MEANING = /^ ?-- (.*)$/m;

type Row = { readonly path: string; readonly value: unknown; readonly meaning: string };

/** The page with the table of all values between its two marks. @throws {Error} for a missing mark, or a value without a meaning. */
export function withValuesTable(page: string, values: string): string {
  if (!TABLE.test(page)) throw new Error("the page has lost the marks around its values");
  const table = [
    "| value | default | meaning |",
    "|---|---|---|",
    ...rowsOf(values).map(
      ({ path, value, meaning }) => `| \`${path}\` | \`${JSON.stringify(value)}\` | ${meaning} |`,
    ),
  ].join("\n");
  return page.replace(TABLE, (_, begin: string, end: string) => `${begin}${table}\n${end}`);
}

function rowsOf(values: string): Row[] {
  const { contents } = parseDocument(values);
  if (!isMap(contents)) throw new Error("values.yaml is not a map");
  return rowsIn(contents, []);
}

/** A value whose comment begins with `--` is a row. A map without such a comment is a group of values. */
function rowsIn(map: YAMLMap, above: readonly string[]): Row[] {
  return map.items.flatMap((pair, index) => {
    const path = [...above, nameOf(pair)];
    const meaning = meaningOf(pair, index === 0 ? map.commentBefore : undefined);
    if (meaning !== undefined) {
      const { value } = pair;
      const plain: unknown = isScalar(value) ? value.value : isNode(value) ? value.toJSON() : value;
      return [{ path: path.join("."), value: plain, meaning }];
    }
    if (isMap(pair.value)) return rowsIn(pair.value, path);
    throw new Error(`${path.join(".")}: no comment that begins with "# --"`);
  });
}

function nameOf({ key }: Pair): string {
  return isScalar(key) ? String(key.value) : String(key);
}

/** The comment of the first value of a map belongs to the map. */
function meaningOf({ key }: Pair, ofMap: string | null | undefined): string | undefined {
  const comment = isScalar(key) ? key.commentBefore : undefined;
  return MEANING.exec(comment ?? ofMap ?? "")?.[1];
}

function isNode(value: unknown): value is { toJSON(): unknown } {
  return typeof value === "object" && value !== null && "toJSON" in value;
}
