import { expect, test } from "vitest";
import {
  isKeyRing,
  newSecretKey,
  SecretKeyError,
  SecretKeys,
  sealedWith,
  withNewKey,
} from "./secret-keys.ts";

const [A, B] = [newSecretKey(), newSecretKey()];
const PLAIN = '{"iban":"DE89370400440532013000"}';

test("a value opens with any key of the ring, only for its purpose, and is never twice the same (N9)", () => {
  const old = new SecretKeys(() => A);
  const sealed = old.seal("payout_line/details/1", PLAIN);
  const both = new SecretKeys(() => `${B}\n${A}\n`);
  expect(both.open("payout_line/details/1", sealed)).toBe(PLAIN);
  expect(old.seal("payout_line/details/1", PLAIN)).not.toBe(sealed);
  expect(() => both.open("payout_line/details/2", sealed)).toThrow(SecretKeyError);
  expect(() => new SecretKeys(() => B).open("payout_line/details/1", sealed)).toThrow(
    SecretKeyError,
  );
});

test("a sealed value begins with four bytes of the hash of the key that sealed it (N9)", () => {
  const keys = new SecretKeys(() => `${B}\n${A}`);
  const sealed = keys.sealBytes("a/b/1", Buffer.from(PLAIN));
  expect(sealedWith(sealed)).toBe(keys.sealingId);
  expect(keys.ids).toEqual([new SecretKeys(() => B).sealingId, new SecretKeys(() => A).sealingId]);
  expect(sealed.length).toBe(4 + 12 + PLAIN.length + 16);
  expect(sealed.includes("DE89")).toBe(false);
});

test("a value with any changed byte, or cut short, does not open (N9)", () => {
  const keys = new SecretKeys(() => A);
  const sealed = keys.sealBytes("a/b/1", Buffer.from(PLAIN));
  for (let i = 0; i < sealed.length; i += 1) {
    const changed = Buffer.from(sealed);
    changed[i] = (changed[i] ?? 0) ^ 1;
    expect(keys.openBytes("a/b/1", changed)).toBeUndefined();
    expect(keys.openBytes("a/b/1", sealed.subarray(0, i))).toBeUndefined();
  }
});

test("a key that is added while the service runs opens at once what it sealed (N9)", () => {
  let text = A;
  const live = new SecretKeys(() => text);
  text = withNewKey(text);
  const sealed = new SecretKeys(() => text).seal("a/b/1", PLAIN);
  expect(live.open("a/b/1", sealed)).toBe(PLAIN);
  text = "half a li";
  expect(live.open("a/b/1", sealed)).toBe(PLAIN);
});

test("without a key nothing is sealed, and the message says which setting is missing (N9)", () => {
  const none = new SecretKeys(() => undefined);
  expect(none.ids).toEqual([]);
  expect(() => none.seal("a/b/1", PLAIN)).toThrow(/SECRETS_KEY is not set/);
});

test.each([
  [A, true],
  [`${A}\n${B}\n\n`, true],
  [`${A}\r\n${B}\r\n`, true],
  ["", false],
  ["a password", false],
  [A.slice(1), false],
  [`${A}\nx`, false],
  [Array.from({ length: 21 }, () => A).join("\n"), false],
])("whether %j is a ring: %s (N9)", (text, isRing) => {
  expect(isKeyRing(text)).toBe(isRing);
});

test("a text that is no ring is refused with what to do (N9)", () => {
  for (const text of ["a password", A.slice(1), `${A}\nx`])
    expect(() => new SecretKeys(() => text)).toThrow(/openssl rand -base64 32/);
});

test("a new key is the first line, and a ring takes no more than 20", () => {
  const lines = withNewKey(`${A}\n${B}`).trim().split("\n");
  expect(lines.slice(1)).toEqual([A, B]);
  let ring = A;
  for (let i = 1; i < 20; i += 1) ring = withNewKey(ring);
  expect(isKeyRing(ring)).toBe(true);
  expect(() => withNewKey(ring)).toThrow(/tracker secrets/);
});
