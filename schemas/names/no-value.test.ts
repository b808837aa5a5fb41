import fc from "fast-check";
import { expect, test } from "vitest";
import { anyText } from "../../test/samples/any-text.ts";
import { NO_VALUES, VALUES, WORDS_FOR_NOTHING } from "../../test/samples/no-values.ts";
import { isNoValue, isUnreplacedName } from "./no-value.ts";

test.each(NO_VALUES)("%j is a name and no value (G216)", (text) => {
  expect([isNoValue(text), isUnreplacedName(text)]).toEqual([true, true]);
  expect(isNoValue(` ${text} `)).toBe(true);
  expect(isNoValue(`"${text}"`)).toBe(true);
});

test.each(WORDS_FOR_NOTHING)(
  "%j is what programs print for nothing, and may be a code (G216)",
  (text) => {
    expect([isNoValue(text), isUnreplacedName(text)]).toEqual([true, false]);
    expect([isNoValue(`${text} `), isNoValue(` ${text}`)]).toEqual([true, true]);
  },
);

test.each(VALUES)("%j is a value (G216)", (text) => {
  expect([isNoValue(text), isUnreplacedName(text)]).toEqual([false, false]);
});

test("a text with a value around a name is a value, whatever its form (G216)", () => {
  for (const name of NO_VALUES) expect(isNoValue(`A1${name}`), name).toBe(false);
});

test("any text is judged, also a very long one (P28, G216)", () => {
  fc.assert(
    fc.property(anyText(200), (text) => {
      isNoValue(text);
      isUnreplacedName(text);
    }),
  );
  for (const part of ["{", "%", "_", "[", "a ", "$a->b", "%25", "[object Aa],"]) {
    for (const text of [`{${part.repeat(40)}`, `__${part.repeat(45)}`]) isNoValue(text);
    expect(isNoValue(part.repeat(60_000)), part).toBe(false);
  }
});
