import { expect, test } from "vitest";
import { OFFER } from "../../../../../.build/console/forms.js";
import { BASICS, MONEY } from "./offer-fields.ts";
import { STEPS } from "./offer-steps.ts";

const described = Object.values(OFFER).flatMap((part) => part.map(({ name }) => name));

test("a new offer is asked for every field that has a form, and for each once", () => {
  const asked = STEPS.flatMap(({ fields }) => fields.map(({ name }) => name));
  expect(new Set(asked).size).toBe(asked.length);
  expect(described.filter((name) => !asked.includes(name))).toEqual([]);
});

test("each field of an offer that has a form is in a section of its page", () => {
  const sections = [...BASICS, ...MONEY, ...OFFER.access, ...OFFER.counting];
  const there = new Set(sections.map(({ name }) => name));
  // The status has buttons of its own.
  expect(described.filter((name) => !there.has(name))).toEqual(["status"]);
});
