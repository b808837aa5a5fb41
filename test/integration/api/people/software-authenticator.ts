import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";

const USER_PRESENT = 0x01;
const USER_VERIFIED = 0x04;
const HAS_CREDENTIAL = 0x40;

/** Just enough of CBOR (RFC 8949) for an attestation: maps, texts, bytes and small numbers. */
function cbor(value: unknown): Buffer {
  if (typeof value === "number") return value >= 0 ? head(0, value) : head(1, -1 - value);
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value]);
  if (typeof value === "string")
    return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (value instanceof Map) {
    const entries = [...value].flatMap(([key, one]: [unknown, unknown]) => [cbor(key), cbor(one)]);
    return Buffer.concat([head(5, value.size), ...entries]);
  }
  throw new Error("this value has no place in an attestation");
}

function head(kind: number, size: number): Buffer {
  if (size < 24) return Buffer.from([(kind << 5) | size]);
  if (size < 256) return Buffer.from([(kind << 5) | 24, size]);
  return Buffer.from([(kind << 5) | 25, size >> 8, size & 255]);
}

type Asked = { readonly challenge: string; readonly origin: string; readonly rpId: string };

/** An authenticator with one ES256 key, as a browser's answers show it. */
export class SoftwareAuthenticator {
  readonly #id = randomBytes(16);
  readonly #key: KeyObject;
  readonly #publicKey: Buffer;
  #counter = 0;
  /** False: the person only touched it, and gave no PIN. */
  verifiesUser = true;

  constructor() {
    const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const { x = "", y = "" } = publicKey.export({ format: "jwk" });
    this.#key = privateKey;
    const parts: [number, unknown][] = [
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, Buffer.from(x, "base64url")],
      [-3, Buffer.from(y, "base64url")],
    ];
    this.#publicKey = cbor(new Map(parts));
  }

  /** The answer of `navigator.credentials.create`. */
  attest(asked: Asked): Record<string, unknown> {
    const length = Buffer.alloc(2);
    length.writeUInt16BE(this.#id.length);
    const credential = Buffer.concat([Buffer.alloc(16), length, this.#id, this.#publicKey]);
    const authData = Buffer.concat([this.#authData(asked.rpId, HAS_CREDENTIAL), credential]);
    const attestation = cbor(
      new Map<string, unknown>([
        ["fmt", "none"],
        ["attStmt", new Map()],
        ["authData", authData],
      ]),
    );
    return this.#answer({
      clientDataJSON: clientData("webauthn.create", asked).toString("base64url"),
      attestationObject: attestation.toString("base64url"),
      transports: ["internal"],
    });
  }

  /** The answer of `navigator.credentials.get`. */
  assert(asked: Asked): Record<string, unknown> {
    this.#counter += 1;
    const authData = this.#authData(asked.rpId, 0);
    const client = clientData("webauthn.get", asked);
    const signed = Buffer.concat([authData, createHash("sha256").update(client).digest()]);
    return this.#answer({
      clientDataJSON: client.toString("base64url"),
      authenticatorData: authData.toString("base64url"),
      signature: sign("sha256", signed, this.#key).toString("base64url"),
    });
  }

  #authData(rpId: string, flags: number): Buffer {
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(this.#counter);
    const verified = this.verifiesUser ? USER_VERIFIED : 0;
    return Buffer.concat([
      createHash("sha256").update(rpId).digest(),
      Buffer.from([USER_PRESENT | verified | flags]),
      counter,
    ]);
  }

  #answer(response: Readonly<Record<string, unknown>>): Record<string, unknown> {
    const id = this.#id.toString("base64url");
    return { id, rawId: id, type: "public-key", response, clientExtensionResults: {} };
  }
}

function clientData(type: string, { challenge, origin }: Asked): Buffer {
  return Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }));
}
