import { expect, test } from "vitest";
import { AFFILIATE } from "../../../../../.build/console/forms.js";
import { CONTACT, TERMS, WORK } from "./affiliate-fields.ts";

test("each field of a partner that has a form is in one section", () => {
  const asked = [...AFFILIATE.name, ...AFFILIATE.code, ...WORK, ...CONTACT, ...TERMS];
  const names = new Set(asked.map(({ name }) => name));
  expect(names.size).toBe(asked.length);
  for (const { name } of Object.values(AFFILIATE).flat()) expect(names).toContain(name);
});
