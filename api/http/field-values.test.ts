import { expect, test } from "vitest";
import { z } from "zod";
import { fieldKinds, valueOf } from "./field-values.ts";

const KINDS = fieldKinds(
  z.strictObject({
    text: z.string(),
    flag: z.boolean().optional(),
    count: z.int().nullable(),
    list: z.array(z.string()).optional(),
    object: z.strictObject({ bot: z.boolean() }).partial(),
  }),
);

test.each([
  ["text", "=1+1", "=1+1"],
  ["text", "12", "12"],
  ["flag", "TRUE", true],
  ["flag", "false", false],
  ["flag", "constructor", "constructor"],
  ["count", "12", 12],
  ["count", "1e9", "1e9"],
  ["count", "0x10", "0x10"],
  ["list", "a | b", ["a", "b"]],
  ["list", '["a|b"]', ["a|b"]],
  ["list", "[a", "[a"],
  ["object", '{"bot":true}', { bot: true }],
  ["object", "bot", "bot"],
])(
  "%s %j becomes %j, and text that cannot be parsed stays as it is for the schema to refuse",
  (field, text, value) => {
    const kind = KINDS.get(field);
    expect(kind && valueOf(kind, text)).toEqual(value);
  },
);

test("a field knows whether it can be empty", () => {
  expect(KINDS.get("count")?.isNullable).toBe(true);
  expect(KINDS.get("text")?.isNullable).toBe(false);
});
