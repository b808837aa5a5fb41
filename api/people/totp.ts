import { createHmac, timingSafeEqual } from "node:crypto";

const STEP_MS = 30_000;
const DIGITS = 6;
/** Steps before and after the current one whose codes count too, for clocks that are wrong. */
const STEPS_AROUND = 1;
const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** The code of a step (RFC 6238 with SHA-1, as all authenticators use). */
export function totpCode(secret: Buffer, step: number, digits: number = DIGITS): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac("sha1", secret).update(counter).digest();
  const offset = (mac.at(-1) ?? 0) & 0x0f;
  const number = mac.readUInt32BE(offset) & 0x7f_ff_ff_ff;
  return String(number % 10 ** digits).padStart(digits, "0");
}

/** The step whose code this is, near now; undefined for a wrong code. */
export function matchingStep(secret: Buffer, code: string, nowMs: number): number | undefined {
  const current = Math.floor(nowMs / STEP_MS);
  const steps = Array.from(
    { length: 2 * STEPS_AROUND + 1 },
    (_, index) => current - STEPS_AROUND + index,
  );
  return steps.find((step) => isSame(totpCode(secret, step), code));
}

function isSame(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
}

/** What an authenticator reads from a QR code. */
export function otpauthUri(secret: Buffer, account: string, issuer: string): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(account)}`;
  const query = new URLSearchParams({ secret: base32(secret), issuer });
  return `otpauth://totp/${label}?${query.toString()}`;
}

/** RFC 4648, without padding. */
export function base32(bytes: Buffer): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, "0")).join("");
  const groups = bits.match(/.{1,5}/g) ?? [];
  return groups.map((group) => BASE32[Number.parseInt(group.padEnd(5, "0"), 2)]).join("");
}
