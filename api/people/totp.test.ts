import { expect, test } from "vitest";
import { base32, matchingStep, otpauthUri, totpCode } from "./totp.ts";

const SECRET = Buffer.from("12345678901234567890");

test.each([
  [59, "94287082"],
  [1_111_111_109, "07081804"],
  [1_111_111_111, "14050471"],
  [1_234_567_890, "89005924"],
  [2_000_000_000, "69279037"],
  [20_000_000_000, "65353130"],
])("the code at second %i is that of RFC 6238, appendix B", (second, code) => {
  expect(totpCode(SECRET, Math.floor(second / 30), 8)).toBe(code);
  expect(totpCode(SECRET, Math.floor(second / 30))).toBe(code.slice(2));
});

test("a code is good one step before and after its own, and no longer", () => {
  const nowMs = 1_234_567_890_000;
  const step = Math.floor(nowMs / 30_000);
  const found = [-2, -1, 0, 1, 2].map((away) =>
    matchingStep(SECRET, totpCode(SECRET, step + away), nowMs),
  );
  expect(found).toEqual([undefined, step - 1, step, step + 1, undefined]);
  expect(matchingStep(SECRET, "", nowMs)).toBeUndefined();
  expect(matchingStep(SECRET, `${totpCode(SECRET, step)} `, nowMs)).toBeUndefined();
});

test("an authenticator reads the secret in the form of RFC 4648", () => {
  expect(base32(Buffer.from("foobar"))).toBe("MZXW6YTBOI");
  expect(base32(Buffer.from("fooba"))).toBe("MZXW6YTB");
  expect(otpauthUri(SECRET, "jane@acme.example", "Tracker api.example")).toBe(
    "otpauth://totp/Tracker%20api.example:jane%40acme.example?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Tracker+api.example",
  );
});
