import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import {
  findKey,
  isSealHeader,
  makeSeal,
  openPieces,
  SEAL_HEADER_BYTES,
  sealPieces,
} from "./archive-seal.ts";

const PIECE = 1024 * 1024;
const SEALED_PIECE = PIECE + 16;
/** A guess takes 1 MiB. */
const CHEAP = 10;
const key = randomBytes(32);

async function* inChunks(bytes: Buffer, size = 65_536): AsyncGenerator<Buffer, void> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function whole(parts: AsyncIterable<Buffer>): Promise<Buffer> {
  const kept: Buffer[] = [];
  for await (const part of parts) kept.push(part);
  return Buffer.concat(kept);
}

async function sealed(plain: Buffer): Promise<Buffer> {
  return await whole(sealPieces(key)(inChunks(plain)));
}

async function opened(bytes: Buffer, by = key): Promise<Buffer> {
  return await whole(openPieces(by)(inChunks(bytes, 70_001)));
}

test("a passphrase opens what it sealed, and no other passphrase does", async () => {
  const { header, key: made } = await makeSeal("lamps along the quay é", CHEAP);
  expect(header).toHaveLength(SEAL_HEADER_BYTES);
  expect(isSealHeader(header)).toBe(true);
  // The same letters, typed as two characters.
  expect(await findKey(header, "lamps along the quay e\u0301")).toEqual(made);
  await expect(findKey(header, "lamps along the quay")).rejects.toThrow(
    "The passphrase does not open the archive",
  );
  // A header that would take more memory than a machine has.
  header.writeUInt8(40, "tracker-sealed-1\n".length);
  await expect(findKey(header, "lamps along the quay é")).rejects.toThrow("does not open");
});

test.each([0, 1, PIECE - 1, PIECE, PIECE + 1, 2 * PIECE, 2 * PIECE + 70_000])(
  "%d bytes come out as they went in, and are not readable in between",
  async (size) => {
    const plain = Buffer.alloc(size, "a visitor's address ");
    const bytes = await sealed(plain);
    expect(bytes.includes("visitor")).toBe(false);
    expect((await opened(bytes)).equals(plain)).toBe(true);
  },
);

test("a changed, exchanged, repeated, missing or added piece is refused where it begins", async () => {
  const plain = Buffer.concat([1, 2, 3].map((fill) => Buffer.alloc(PIECE, fill)));
  const bytes = await sealed(plain);
  const [first, second, third] = [0, 1, 2].map((one) =>
    bytes.subarray(one * SEALED_PIECE, (one + 1) * SEALED_PIECE),
  );
  if (first === undefined || second === undefined || third === undefined) throw new Error();
  const flipped = Buffer.from(second);
  flipped[500] = (flipped[500] ?? 0) ^ 1;
  const faults: [string, Buffer[], number][] = [
    ["changed", [first, flipped, third], 2],
    ["exchanged", [second, first, third], 1],
    ["repeated", [first, first, second, third], 2],
    ["missing", [first, third], 2],
    ["cut off after a piece", [first, second], 2],
    ["cut off within a piece", [first, second, third.subarray(0, 1_000)], 3],
    ["added", [first, second, third, Buffer.alloc(20)], 3],
    ["empty", [], 1],
  ];
  for (const [name, pieces, at] of faults) {
    await expect(opened(Buffer.concat(pieces)), name).rejects.toThrow(`its sealed piece ${at} was`);
  }
  await expect(opened(bytes, randomBytes(32))).rejects.toThrow("its sealed piece 1 was");
});

test("a compressed archive and a short file are not taken for a sealed one", () => {
  expect(isSealHeader(Buffer.alloc(SEAL_HEADER_BYTES, 0x1f))).toBe(false);
  expect(isSealHeader(Buffer.from("tracker-sealed-1\n"))).toBe(false);
});
