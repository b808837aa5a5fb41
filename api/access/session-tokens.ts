import { createHmac, hash, randomBytes, timingSafeEqual } from "node:crypto";

const RANDOM_BYTES = 32;
const MAC_BYTES = 16;
const FORM = /^[A-Za-z0-9_-]{64}$/;
const PURPOSE = "session of a person";

/**
 * The secrets of sessions. Each ends with a code that only this installation can compute, so a made-up one is recognised without
 * Postgres.
 */
export class SessionTokens {
  readonly #secret: string;

  constructor(secret: string) {
    this.#secret = secret;
  }

  mint(): string {
    const random = randomBytes(RANDOM_BYTES);
    return Buffer.concat([random, this.#codeOf(random)]).toString("base64url");
  }

  /** False for a secret that was not minted here. */
  isOwn(token: string): boolean {
    if (!FORM.test(token)) return false;
    const bytes = Buffer.from(token, "base64url");
    return timingSafeEqual(
      bytes.subarray(RANDOM_BYTES),
      this.#codeOf(bytes.subarray(0, RANDOM_BYTES)),
    );
  }

  #codeOf(random: Buffer): Buffer {
    const mac = createHmac("sha256", this.#secret).update(PURPOSE).update(random).digest();
    return mac.subarray(0, MAC_BYTES);
  }
}

/** What the database stores of a session's secret or a link's token (P31). */
export function hashOfToken(token: string): Buffer {
  return hash("sha256", token, "buffer");
}
