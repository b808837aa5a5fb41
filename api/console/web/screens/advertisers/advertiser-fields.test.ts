import { expect, test } from "vitest";
import { ADVERTISER } from "../../../../../.build/console/forms.js";
import { BASICS, BILLING, CONTACT } from "./advertiser-fields.ts";

test("the page of an advertiser and a new one have every field that has a form", () => {
  const asked = [...BASICS, ...CONTACT, ...BILLING];
  const names = new Set(asked.map(({ name }) => name));
  expect(names.size).toBe(asked.length);
  for (const { name } of Object.values(ADVERTISER).flat()) expect(names).toContain(name);
});
