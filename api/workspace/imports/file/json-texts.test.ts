import fc from "fast-check";
import { expect, test } from "vitest";
import { FileFault } from "./file-fault.ts";
import { JsonTexts } from "./json-texts.ts";

function texts(...chunks: string[]): unknown[] {
  const reader = new JsonTexts();
  const found = chunks.flatMap((chunk) => [...reader.take(chunk)]);
  reader.finish();
  return found.map((text): unknown => JSON.parse(text));
}

test("records come out as they went in, wherever the chunks of the text end", () => {
  const records = fc.array(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 })), {
    maxLength: 5,
  });
  fc.assert(
    fc.property(records, fc.integer({ min: 1, max: 9 }), fc.boolean(), (values, size, isArray) => {
      const text = isArray
        ? JSON.stringify(values, null, 1)
        : values.map((value) => JSON.stringify(value)).join("\n");
      const characters = Array.from(text);
      const chunks = Array.from({ length: Math.ceil(characters.length / size) }, (_, index) =>
        characters.slice(index * size, (index + 1) * size).join(""),
      );
      expect(JSON.stringify(texts(...chunks))).toBe(JSON.stringify(values));
    }),
    { numRuns: 200 },
  );
});

test.each([
  "[",
  '[{"a":1}',
  '[{"a":1},]',
  '[{"a":1} {"a":2}]',
  '[,{"a":1}]',
  '[{"a":1}],',
  '[{"a":1}]{"a":2}',
  '{"a":1},{"a":2}',
  '{"a":1}]',
  "[1]",
  '"text"',
  '{"a":',
])("%j is refused", (text) => {
  expect(() => texts(text)).toThrow(FileFault);
});

test("a record without end does not fill the memory", () => {
  expect(() => texts('{"a":"', "x".repeat(2 * 1024 ** 2))).toThrow(/larger than/);
});
