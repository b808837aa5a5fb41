import { expect, test } from "vitest";
import type { FieldKind } from "../../../http/field-values.ts";
import type { FileRow } from "./file-row.ts";
import { fileRows } from "./file-rows.ts";
import type { FileFormat } from "./source-file.ts";

const KINDS: ReadonlyMap<string, FieldKind> = new Map([
  ["name", { type: "text", isNullable: false }],
  ["targeting", { type: "object", isNullable: false }],
]);
const DEEP = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;

async function rowsOf(format: FileFormat, content: string): Promise<FileRow[]> {
  const rows = fileRows({
    file: {
      name: "the file",
      format,
      delimiter: ",",
      bytes: async function* bytes() {
        yield Buffer.from(content);
      },
    },
    fieldKinds: KINDS,
    words: {
      update: "update=1",
      skipFaulty: "skip_faulty=1",
      delimiter: (name) => `delimiter=${name}`,
    },
  });
  const all: FileRow[] = [];
  for await (const row of rows) all.push(row);
  return all;
}

test("a record of a file that is 100,000 levels deep is a fault of its row (#35, G213)", async () => {
  const [deep, right] = await rowsOf("json", `{"name":"a","targeting":${DEEP}}\n{"name":"b"}`);
  expect(deep).toEqual({
    number: 1,
    fields: {},
    fault: "the JSON is nested more than 32 levels deep",
  });
  expect(right).toEqual({ number: 2, fields: { name: "b" } });
});

test("a cell that is 100,000 levels deep stays text, which its field refuses (G213)", async () => {
  const [row] = await rowsOf("csv", `name,targeting\na,"${DEEP}"\nb,"{""os_allow"":[]}"`);
  expect(row?.fields["targeting"]).toBe(DEEP);
});

test("a whole number of a file or cell keeps its digits (G218)", async () => {
  const [row] = await rowsOf(
    "json",
    '{"name":7300000000000000001,"targeting":[7300000000000000002]}',
  );
  expect(row?.fields).toEqual({ name: "7300000000000000001", targeting: ["7300000000000000002"] });
  const [cells] = await rowsOf(
    "csv",
    `name,targeting\n7300000000000000001,"{""a"":7300000000000000002}"`,
  );
  expect(cells?.fields).toEqual({
    name: "7300000000000000001",
    targeting: { a: "7300000000000000002" },
  });
});

test("of unknown columns five are named, and the rest are counted (G213)", async () => {
  const columns = Array.from({ length: 1_000 }, (_, index) => `column${index}`).join(",");
  await expect(rowsOf("csv", `${columns}\n`)).rejects.toThrow(
    '"column0", "column1", "column2", "column3", "column4", 995 more. Known columns: name, targeting.',
  );
  await expect(rowsOf("csv", `${columns.repeat(10)}\n`)).rejects.toThrow(
    "The first row of the file has more than 20000 characters.",
  );
});

test("empty lines are no rows, but they count in the numbers of rows", async () => {
  const rows = await rowsOf("csv", "name,targeting\n\nA,\n\n\nB,\n,\nC,\n");
  expect(rows.map(({ number, fields }) => [number, fields["name"]])).toEqual([
    [3, "A"],
    [6, "B"],
    [8, "C"],
  ]);
});

test("headers are read in any case, and empty cells at the end of lines are none (G254)", async () => {
  const rows = await rowsOf("csv", "NAME,Targeting,,\nA,,,\nB,\nC,,,x\n");
  expect(rows.map(({ fields, fault }) => fields["name"] ?? fault)).toEqual([
    "A",
    "B",
    "has 4 cells, but there are 2 columns",
  ]);
});

test("a first line such as sep=; names what separates cells, and counts as a row (G254)", async () => {
  const rows = await rowsOf("csv", "\uFEFFsep=;\r\nname;targeting\r\nA;\r\n");
  expect(rows).toEqual([{ number: 3, fields: { name: "A" } }]);
});
