import { createCipheriv, createDecipheriv, randomBytes, scrypt } from "node:crypto";
import { LaunchError } from "../local/report.ts";

/** A sealed archive begins with these bytes, the cost of a guess, the salt and the proof of the passphrase. */
const MAGIC = Buffer.from("tracker-sealed-1\n");
const COST_AT = MAGIC.length;
const SALT_AT = COST_AT + 1;
const SALT_BYTES = 16;
const PROOF_AT = SALT_AT + SALT_BYTES;
const PROOF_BYTES = 16;
export const SEAL_HEADER_BYTES = PROOF_AT + PROOF_BYTES;

const ALGORITHM = "aes-256-gcm";
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const PIECE_BYTES = 1024 * 1024;
/** The exponent of scrypt's N. With 17, a guess takes 128 MiB and about half a second. */
const COST = 17;
const COSTS = { min: 1, max: 20 };
const SCRYPT_BLOCK = 8;

/** The first byte of a nonce: what is sealed with it. */
const PROOF = 0;
const PIECE = 1;
const LAST_PIECE = 2;

/**
 * A sealed archive is its header and then pieces of 1 MiB; the last piece may be shorter. A piece is sealed by AES-GCM under a key of 256 bits that
 * scrypt makes of the passphrase and the archive's salt. A nonce has the number of the piece and whether it is the last one, so that pieces
 * cannot be changed, exchanged, left out or added.
 */
export type ArchiveSeal = { readonly header: Buffer; readonly key: Buffer };

export async function makeSeal(passphrase: string, cost = COST): Promise<ArchiveSeal> {
  const beginning = Buffer.concat([MAGIC, Buffer.of(cost), randomBytes(SALT_BYTES)]);
  const key = await deriveKey(passphrase, beginning);
  return { header: Buffer.concat([beginning, proofOf(key, beginning)]), key };
}

/** Whether a file that begins with these bytes is a sealed archive. */
export function isSealHeader(beginning: Buffer): boolean {
  return beginning.length === SEAL_HEADER_BYTES && beginning.indexOf(MAGIC) === 0;
}

/** The key of a sealed archive. @throws {LaunchError} for another passphrase, or a changed header. */
export async function findKey(header: Buffer, passphrase: string): Promise<Buffer> {
  const beginning = header.subarray(0, PROOF_AT);
  const cost = beginning.readUInt8(COST_AT);
  if (cost >= COSTS.min && cost <= COSTS.max) {
    const key = await deriveKey(passphrase, beginning);
    if (proofOf(key, beginning).equals(header.subarray(PROOF_AT))) return key;
  }
  throw new LaunchError(
    "The passphrase does not open the archive: it is another one, or the first bytes of the archive are damaged. " +
      "Nothing was restored.",
  );
}

/** Seals what follows the header. */
export function sealPieces(
  key: Buffer,
): (plain: AsyncIterable<Buffer>) => AsyncGenerator<Buffer, void> {
  return async function* seal(plain) {
    for await (const { bytes, number, isLast } of piecesOf(plain, PIECE_BYTES)) {
      const nonce = nonceOf(isLast ? LAST_PIECE : PIECE, number);
      const cipher = createCipheriv(ALGORITHM, key, nonce);
      yield Buffer.concat([cipher.update(bytes), cipher.final(), cipher.getAuthTag()]);
    }
  };
}

/** Opens what follows the header. Passes on no byte of a piece that was changed. @throws {LaunchError} at that piece. */
export function openPieces(
  key: Buffer,
): (sealed: AsyncIterable<Buffer>) => AsyncGenerator<Buffer, void> {
  return async function* open(sealed) {
    for await (const { bytes, number, isLast } of piecesOf(sealed, PIECE_BYTES + TAG_BYTES)) {
      const plain = openPiece(bytes, key, nonceOf(isLast ? LAST_PIECE : PIECE, number));
      if (plain === undefined) {
        throw new LaunchError(`its sealed piece ${number + 1} was changed, or it is cut off`);
      }
      yield plain;
    }
  };
}

function openPiece(sealed: Buffer, key: Buffer, nonce: Buffer): Buffer | undefined {
  if (sealed.length < TAG_BYTES) return undefined;
  const decipher = createDecipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES });
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
  const plain = decipher.update(sealed.subarray(0, -TAG_BYTES));
  try {
    return Buffer.concat([plain, decipher.final()]);
  } catch {
    // The tag does not fit.
    return undefined;
  }
}

type NumberedPiece = { readonly bytes: Buffer; readonly number: number; readonly isLast: boolean };

/** Pieces of `size`. The last one has 0 to `size` bytes, and there is always one. */
async function* piecesOf(
  source: AsyncIterable<Buffer>,
  size: number,
): AsyncGenerator<NumberedPiece, void> {
  let held: Buffer[] = [];
  let heldBytes = 0;
  let number = 0;
  for await (const chunk of source) {
    held.push(chunk);
    heldBytes += chunk.length;
    if (heldBytes <= size) continue;
    let rest = Buffer.concat(held);
    // A piece leaves only when more follows it: what is left may be the last one.
    while (rest.length > size) {
      yield { bytes: rest.subarray(0, size), number, isLast: false };
      rest = rest.subarray(size);
      number += 1;
    }
    held = [rest];
    heldBytes = rest.length;
  }
  yield { bytes: Buffer.concat(held), number, isLast: true };
}

/** The proof of the passphrase: 16 bytes that only its key computes from the beginning of the header. */
function proofOf(key: Buffer, beginning: Buffer): Buffer {
  const cipher = createCipheriv(ALGORITHM, key, nonceOf(PROOF, 0)).setAAD(beginning);
  cipher.final();
  return cipher.getAuthTag();
}

/** No nonce comes twice under one key, because each archive has a key of its own. */
function nonceOf(kind: number, number: number): Buffer {
  const nonce = Buffer.alloc(NONCE_BYTES);
  nonce.writeUInt8(kind);
  nonce.writeBigUInt64BE(BigInt(number), NONCE_BYTES - 8);
  return nonce;
}

function deriveKey(passphrase: string, beginning: Buffer): Promise<Buffer> {
  const salt = beginning.subarray(SALT_AT);
  const cost = 2 ** beginning.readUInt8(COST_AT);
  const maxmem = 2 * 128 * SCRYPT_BLOCK * cost;
  return new Promise((resolve, reject) => {
    // The same letters may be typed as different characters on another machine.
    const letters = passphrase.normalize("NFC");
    scrypt(letters, salt, KEY_BYTES, { N: cost, r: SCRYPT_BLOCK, maxmem }, (error, key) => {
      if (error === null) resolve(key);
      else reject(error);
    });
  });
}
