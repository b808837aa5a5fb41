import { expect, test } from "vitest";
import { SealedBox } from "./sealed-box.ts";

const SECRET = "a secret of at least 32 characters";
const PLAIN = Buffer.from("the secret of codes");

test("what is sealed opens with the same secret for the same owner, and never twice the same", () => {
  const box = new SealedBox(SECRET);
  const sealed = box.seal(PLAIN, "person 1");
  expect(new SealedBox(SECRET).open(sealed, "person 1")).toEqual(PLAIN);
  expect(box.seal(PLAIN, "person 1")).not.toEqual(sealed);
  expect(sealed.includes(PLAIN)).toBe(false);
});

test("it does not open for another owner, with another secret, or after a change of any byte", () => {
  const box = new SealedBox(SECRET);
  const sealed = box.seal(PLAIN, "person 1");
  expect(box.open(sealed, "person 2")).toBeUndefined();
  expect(new SealedBox(`${SECRET}.`).open(sealed, "person 1")).toBeUndefined();
  expect(box.open(sealed.subarray(0, 20), "person 1")).toBeUndefined();
  for (let i = 0; i < sealed.length; i += 1) {
    const changed = Buffer.from(sealed);
    changed[i] = (changed[i] ?? 0) ^ 1;
    expect(box.open(changed, "person 1")).toBeUndefined();
  }
});
