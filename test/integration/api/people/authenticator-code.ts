import { totpCode } from "../../../../api/people/totp.ts";

const STEP_MS = 30_000;
const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** Reads base32 as an authenticator does. */
export function secretIn(text: string): Buffer {
  const bits = Array.from(text, (one) => BASE32.indexOf(one).toString(2).padStart(5, "0")).join("");
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
}

/** The code that an authenticator shows now, or `steps` of 30 s later. */
export function codeAt(secret: Buffer, steps = 0): string {
  return totpCode(secret, Math.floor(Date.now() / STEP_MS) + steps);
}
