import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import { systemClock } from "../time/clock.ts";

/** The file of the ring in DATA_DIR of a one-machine run. */
export const SECRETS_KEY_NAME = "secrets.key";

const ALGORITHM = "aes-256-gcm";
const KEY_BYTES = 32;
const KEY_TEXT = /^[A-Za-z0-9+/]{43}=$/;
/** Bytes of SHA-256 of a key, which name it. */
const ID_BYTES = 4;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const KEYS_MAX = 20;
/** A key that another program has added seals here within this time. */
const REREAD_MS = 5_000;
/** A value of an unknown key makes the ring be read again, at most this often. */
const REREAD_FOR_UNKNOWN_MS = 250;

/** A value cannot be sealed or opened. The message says what to do, and never has a value. */
export class SecretKeyError extends Error {
  override readonly name = "SecretKeyError";
}

type Ring = readonly { readonly id: string; readonly key: Buffer }[];

/**
 * The ring of keys of SECRETS_KEY (N9). Its first key seals; all of them open. A sealed value has the id of its key, so that it is known which
 * keys are still needed. `purpose` is `<table>/<column>/<id>`: a value that was copied to another place does not open there.
 */
export class SecretKeys {
  readonly #read: () => string | undefined;
  #ring: Ring = [];
  #readAtMs = 0;
  #unknownAtMs = -REREAD_FOR_UNKNOWN_MS;

  /**
   * `read` is called again while the service runs, so that a key may be added to a file meanwhile. What cannot be read then changes nothing.
   * @throws {SecretKeyError} for a text that is no ring of keys.
   */
  constructor(read: () => string | undefined) {
    this.#read = read;
    this.#reread();
  }

  /** The ids of the keys, the one that seals first. */
  get ids(): readonly string[] {
    this.#rereadAfter(REREAD_MS);
    return this.#ring.map(({ id }) => id);
  }

  /** The id of the key that seals. */
  get sealingId(): string | undefined {
    return this.ids[0];
  }

  /** In base64, for a column of text. @throws {SecretKeyError} without any key. */
  seal(purpose: string, plain: string): string {
    return this.sealBytes(purpose, Buffer.from(plain)).toString("base64");
  }

  /** @throws {SecretKeyError} if no key of the ring opens it. */
  open(purpose: string, sealed: string): string {
    const plain = this.openBytes(purpose, Buffer.from(sealed, "base64"));
    if (plain === undefined) throw new SecretKeyError(`no key of SECRETS_KEY opens ${purpose}`);
    return plain.toString();
  }

  /** The id of the key, the nonce, the sealed bytes and their tag. @throws {SecretKeyError} without any key. */
  sealBytes(purpose: string, plain: Buffer): Buffer {
    this.#rereadAfter(REREAD_MS);
    const [first] = this.#ring;
    if (first === undefined)
      throw new SecretKeyError(
        "SECRETS_KEY is not set: it seals payment details, and nothing is stored without it",
      );
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(ALGORITHM, first.key, nonce).setAAD(Buffer.from(purpose));
    const id = Buffer.from(first.id, "hex");
    return Buffer.concat([id, nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
  }

  /** Undefined if no key of the ring sealed it, or it was sealed for another purpose or changed. */
  openBytes(purpose: string, sealed: Buffer): Buffer | undefined {
    if (sealed.length < ID_BYTES + NONCE_BYTES + TAG_BYTES) return undefined;
    const id = sealedWith(sealed);
    if (!this.#has(id)) this.#rereadForUnknown();
    const found = this.#ring.find((one) => one.id === id);
    if (found === undefined) return undefined;
    const body = sealed.subarray(ID_BYTES + NONCE_BYTES, -TAG_BYTES);
    const nonce = sealed.subarray(ID_BYTES, ID_BYTES + NONCE_BYTES);
    const decipher = createDecipheriv(ALGORITHM, found.key, nonce)
      .setAAD(Buffer.from(purpose))
      .setAuthTag(sealed.subarray(-TAG_BYTES));
    const plain = decipher.update(body);
    try {
      return Buffer.concat([plain, decipher.final()]);
    } catch {
      // The tag does not fit.
      return undefined;
    }
  }

  #has(id: string): boolean {
    return this.#ring.some((one) => one.id === id);
  }

  /** A key that another program has added a moment ago is found, however new the ring is. */
  #rereadForUnknown(): void {
    const nowMs = systemClock.nowMs();
    if (Math.abs(nowMs - this.#unknownAtMs) < REREAD_FOR_UNKNOWN_MS) return;
    this.#unknownAtMs = nowMs;
    this.#rereadAfter(0);
  }

  #rereadAfter(ageMs: number): void {
    // A clock that was set back makes it read at once.
    if (Math.abs(systemClock.nowMs() - this.#readAtMs) < ageMs) return;
    try {
      this.#reread();
    } catch {
      // The file is gone or half written: the keys that were read before go on.
      this.#readAtMs = systemClock.nowMs();
    }
  }

  #reread(): void {
    this.#ring = ringOf(this.#read() ?? "");
    this.#readAtMs = systemClock.nowMs();
  }
}

/** The id of the key that sealed a value. */
export function sealedWith(sealed: Buffer): string {
  return sealed.subarray(0, ID_BYTES).toString("hex");
}

/** A line of SECRETS_KEY. */
export function newSecretKey(): string {
  return randomBytes(KEY_BYTES).toString("base64");
}

/** Whether a text is a ring: one line for each key, of 32 bytes in base64. */
export function isKeyRing(text: string): boolean {
  const lines = linesOf(text);
  return lines.length > 0 && lines.length <= KEYS_MAX && lines.every((line) => KEY_TEXT.test(line));
}

/** The ring with a new first key. @throws {SecretKeyError} for a ring that has as many as it may. */
export function withNewKey(text: string): string {
  const lines = linesOf(text);
  if (lines.length >= KEYS_MAX)
    throw new SecretKeyError(
      `there are ${KEYS_MAX} keys already: remove lines that \`tracker secrets\` calls unused`,
    );
  return `${[newSecretKey(), ...lines].join("\n")}\n`;
}

function ringOf(text: string): Ring {
  if (text.trim() === "") return [];
  if (!isKeyRing(text))
    throw new SecretKeyError(
      "SECRETS_KEY: expected one line for each key, of 32 bytes in base64, as `openssl rand -base64 32` writes it",
    );
  return linesOf(text).map((line) => {
    const key = Buffer.from(line, "base64");
    const id = createHash("sha256")
      .update(key)
      .digest("hex")
      .slice(0, ID_BYTES * 2);
    return { id, key };
  });
}

function linesOf(text: string): string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}
