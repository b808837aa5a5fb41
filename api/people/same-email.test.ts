import { expect, test } from "vitest";
import { isSameEmail } from "./same-email.ts";

test.each([
  ["jane@acme.example", "JANE@Acme.Example", true],
  ["jane@acme.example", "jane@acme.example", true],
  ["kim@acme.example", "\u212Aim@acme.example", false],
  ["ş@acme.example", "Ş@acme.example", false],
  ["jane@acme.example", "jane@acme.example.", false],
  ["jane@acme.example", " jane@acme.example", false],
  ["jane@acme.example", "j\u0430ne@acme.example", false],
])("%s and %s are one address: %s (G211)", (one, other, isSame) => {
  expect(isSameEmail(one, other)).toBe(isSame);
  expect(isSameEmail(other, one)).toBe(isSame);
});
