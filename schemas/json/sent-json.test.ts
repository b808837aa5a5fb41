import { expect, test } from "vitest";
import { JsonExcessError, parseSentJson } from "./sent-json.ts";

const BOUNDS = { values: 100 };

test("JSON within its bounds is parsed, and text that is no JSON is a SyntaxError (G213)", () => {
  expect(parseSentJson('{"a":[1,{"b":"é"}]}', BOUNDS)).toEqual({ a: [1, { b: "é" }] });
  for (const text of ["", "{", "}", '{"a":1}}', '{"a', "[1,]"])
    expect(() => parseSentJson(text, BOUNDS), text).toThrow(SyntaxError);
});

test("JSON of 100,000 levels, or of more values than can be used, is refused by name (G213)", () => {
  const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
  expect(() => parseSentJson(deep, BOUNDS)).toThrow(JsonExcessError);
  expect(() => parseSentJson(deep, BOUNDS)).toThrow("the JSON is nested more than 32 levels deep");
  expect(() => parseSentJson(`[${"1,".repeat(100)}1]`, BOUNDS)).toThrow(
    "the JSON has more than 100 values",
  );
});
