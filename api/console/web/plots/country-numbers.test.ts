import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { z } from "zod";
import { projectFile } from "../../../../schemas/host/project-root.ts";
import { countryOfNumber } from "./country-numbers.ts";

const Atlas = z.object({
  objects: z.object({
    countries: z.object({ geometries: z.array(z.object({ id: z.string().optional() })) }),
  }),
});

test("every numbered shape of the map is a different country with a code in use", () => {
  const file = projectFile("node_modules", "world-atlas", "countries-110m.json");
  const { geometries } = Atlas.parse(JSON.parse(readFileSync(file, "utf8"))).objects.countries;
  const numbers = geometries.flatMap(({ id }) => id ?? []);
  const codes = numbers.map(countryOfNumber);
  expect(numbers.length).toBeGreaterThan(170);
  // Codes that are no longer in use, such as DD, get another form.
  const current = codes.map((code) => new Intl.Locale(`und-${code ?? "ZZ"}`).region);
  expect(codes).toEqual(current);
  expect(new Set(codes).size).toBe(numbers.length);
});
