import { expect, test } from "vitest";
import { ADVERTISER } from "../../../../../.build/console/forms.js";
import { BASICS, BILLING, CONTACT } from "./advertiser-fields.ts";

test("each field of an advertiser that has a form is in one section", () => {
  const asked = [...BASICS, ...CONTACT, ...BILLING];
  const names = new Set(asked.map(({ name }) => name));
  expect(names.size).toBe(asked.length);
  for (const { name } of Object.values(ADVERTISER).flat()) expect(names).toContain(name);
});
