import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";

const ALGORITHM = "aes-256-gcm";
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** What the key is derived for: the same secret may be used for something else. */
const PURPOSE = "second factors";

/** Seals the second factors of people, which the service itself must read again, so that a copy of the database does not reveal them. */
export class SealedBox {
  readonly #key: Buffer;

  /** `secret`: CONSOLE_SECRET. */
  constructor(secret: string) {
    this.#key = Buffer.from(hkdfSync("sha256", secret, "", PURPOSE, KEY_BYTES));
  }

  /** `owner`: what the secret belongs to; it opens only for the same owner. */
  seal(plain: Buffer, owner: string): Buffer {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(ALGORITHM, this.#key, nonce).setAAD(Buffer.from(owner));
    return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
  }

  /** Undefined if it was sealed with another secret or for another owner, or was changed. */
  open(sealed: Buffer, owner: string): Buffer | undefined {
    if (sealed.length < NONCE_BYTES + TAG_BYTES) return undefined;
    const decipher = createDecipheriv(ALGORITHM, this.#key, sealed.subarray(0, NONCE_BYTES))
      .setAAD(Buffer.from(owner))
      .setAuthTag(sealed.subarray(-TAG_BYTES));
    const plain = decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES));
    try {
      return Buffer.concat([plain, decipher.final()]);
    } catch {
      // The tag does not fit.
      return undefined;
    }
  }
}
