import fc from "fast-check";
import { expect, test } from "vitest";
import { anyText } from "../../test/samples/any-text.ts";
import { expandTemplate, expandUrlTemplate } from "./expand.ts";
import { DESTINATION_MACROS } from "./macro-names.ts";
import { parseTemplate } from "./template.ts";

const expandAll = (text: string, value: string): string =>
  expandUrlTemplate(parseTemplate(text, DESTINATION_MACROS), () => value);

test("macros are replaced wherever they stand, unknown ones stay as they are (G148)", () => {
  const text =
    "{sub1}https://a.example/{sub2}{foo}?c={click_id}&x={SUB1}&{sub11}{}{sub1/%7Bsub1%7D{";
  const values: Partial<Record<string, string>> = { sub1: "1", sub2: "2", click_id: "abc" };
  const expanded = expandUrlTemplate(
    parseTemplate(text, DESTINATION_MACROS),
    (macro) => values[macro] ?? "",
  );
  expect(expanded).toBe("1https://a.example/2{foo}?c=abc&x={SUB1}&{sub11}{}{sub1/%7Bsub1%7D{");
});

test("a macro without a value becomes the empty string (TRK-050)", () => {
  expect(expandAll("https://a.example/?s={sub3}&t=1", "")).toBe("https://a.example/?s=&t=1");
});

test("a value never adds to the structure of a URL, whatever it holds", () => {
  fc.assert(
    fc.property(anyText(), (value) => {
      const url = expandAll("https://a.example/{sub1}/?s={sub2}#end", value);
      const { host, hash, searchParams } = new URL(url);
      // Whatever is no half of a pair comes back as it was.
      const query = [["s", Buffer.from(value).toString()]];
      expect([/[^\x21-\x7e]/.test(url), host, hash, [...searchParams]]).toEqual([
        false,
        "a.example",
        "#end",
        query,
      ]);
    }),
  );
});

test("outside of URLs values are taken as they are", () => {
  expect(expandTemplate(parseTemplate("<a>{sub1}</a>", DESTINATION_MACROS), () => "a b&c")).toBe(
    "<a>a b&c</a>",
  );
});
