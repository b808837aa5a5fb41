import { parse } from "csv-parse/sync";
import fc from "fast-check";
import { expect, test } from "vitest";
import { CsvFault, csvRecords } from "./csv-records.ts";

const OPTIONS = { bom: true, relax_column_count: true, skip_empty_lines: true };

function read(text: string): string[][] | "fault" {
  try {
    return [...csvRecords(text)];
  } catch (error) {
    if (error instanceof CsvFault) return "fault";
    throw error;
  }
}

test("cells, quotes, line ends and a byte order mark are read by RFC 4180 (G75, G213)", () => {
  expect(read('\uFEFFa,b\r\n1,"x, ""y""\r\nz"\r\n\r\n,\n3')).toEqual([
    ["a", "b"],
    ["1", 'x, "y"\r\nz'],
    ["", ""],
    ["3"],
  ]);
  expect(read("")).toEqual([]);
  expect(read("\r\n\n")).toEqual([]);
  expect(read("a\rb")).toEqual([["a"], ["b"]]);
});

test.each(['a\n"b', 'a"b', '"a"b', '"a" ,b', ",".repeat(100)])(
  "%j is no CSV that is read",
  (text) => {
    expect(read(text)).toBe("fault");
  },
);

test("any table that is written as CSV is read back, as another reader does (G213)", () => {
  const cell = fc.string({
    unit: fc.constantFrom("a", '"', ",", "\n", "\r\n", " ", "é"),
    maxLength: 6,
  });
  const table = fc.array(fc.array(cell, { minLength: 2, maxLength: 4 }), {
    minLength: 1,
    maxLength: 5,
  });
  fc.assert(
    fc.property(table, fc.constantFrom("\n", "\r\n"), (rows, lineEnd) => {
      const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;
      const text = rows.map((row) => row.map(quoted).join(",")).join(lineEnd);
      expect(read(text)).toEqual(rows);
      expect(read(text)).toEqual(parse(text, OPTIONS));
    }),
  );
});

test("a text of plain cells is read as another reader does (G213)", () => {
  const text = fc.string({ unit: fc.constantFrom("a", "b", ",", ",", "\n"), maxLength: 30 });
  fc.assert(
    fc.property(text, (plain) => {
      expect(read(plain)).toEqual(parse(plain, OPTIONS));
    }),
  );
});

test("a reader that stops early has looked at little more than what it took (G213)", () => {
  const text = `a,b\n${"1,2\n".repeat(10)}"`;
  const records = csvRecords(text);
  expect(records.next().value).toEqual(["a", "b"]);
  expect(records.next().value).toEqual(["1", "2"]);
  expect(() => [...records]).toThrow("a quotation mark has no counterpart");
});

test("a first line such as sep=; names what separates cells (G254)", () => {
  for (const end of ["\r\n", "\n", "\r"])
    expect([...csvRecords(`\uFEFFSEP=;${end}a;b${end}"x;y";1,5${end}`)]).toEqual([
      ["a", "b"],
      ["x;y", "1,5"],
    ]);
  expect([...csvRecords("sep=\t\na\tb")]).toEqual([["a", "b"]]);
  expect([...csvRecords("sep=ab,c\nd,e")]).toEqual([
    ["sep=ab", "c"],
    ["d", "e"],
  ]);
});

test("a text whose cells are separated by something else is refused with what helps (G254)", () => {
  expect(() => [...csvRecords("date;amount\n2025-01-31;1")]).toThrow(
    "separated by a semicolon: separate them by commas, or begin with the line sep=;",
  );
  expect(() => [...csvRecords("date\tamount\n")]).toThrow("separated by a tab");
});
