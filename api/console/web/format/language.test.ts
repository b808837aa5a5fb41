import { expect, test } from "vitest";
import { formatLanguage } from "./language.ts";

test("a language has its name, and what is no code of one stays as it was typed (#39)", () => {
  expect(formatLanguage("de")).toBe("German");
  expect(formatLanguage("pt-BR")).toBe("Brazilian Portuguese");
  expect(formatLanguage("not a language")).toBe("not a language");
  expect(formatLanguage("")).toBe("");
});
