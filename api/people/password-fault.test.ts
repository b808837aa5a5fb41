import { expect, test } from "vitest";
import { newPassword, passwordFault } from "./password-fault.ts";

const JANE = { email: "jane.miller@acme.example", name: "Jane Miller" };

test.each([
  "password1234",
  "passwordpassword",
  "P@ssw0rd2026",
  "qwerty123456",
  "aaaaaaaaaaaa",
  "abababababab",
  "123456789012",
  "abcdefghijklm",
  "letmein12345",
  "jane.miller2026",
  "Miller123456",
])("%s is refused, because it is guessed first", (password) => {
  expect(passwordFault(password, JANE)).toBeDefined();
});

test.each([
  "correct horse battery",
  "seven-lamps-on-a-quay",
  "my password is a blue whale",
  "Zq8#vLp2!mXt",
  "ein grünes Fahrrad",
  "赤い自転車で海まで走った日曜日",
])("%s is accepted", (password) => {
  expect(newPassword.safeParse(password).success).toBe(true);
  expect(passwordFault(password, JANE)).toBeUndefined();
});

test("a password has 12 to 128 characters, counted as people do", () => {
  const isAccepted = (given: string): boolean => newPassword.safeParse(given).success;
  expect([11, 12, 128, 129].map((count) => isAccepted("é".repeat(count)))).toEqual([
    false,
    true,
    true,
    false,
  ]);
  expect([11, 12, 128, 129].map((count) => isAccepted("🙂".repeat(count)))).toEqual([
    false,
    true,
    true,
    false,
  ]);
});
