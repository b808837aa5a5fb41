import { createHash } from "node:crypto";
import {
  closeSync,
  fstatSync,
  openSync,
  readSync,
  renameSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { crc32 } from "node:zlib";
import type { AsnColumns } from "./asn-table.ts";

/** The CSV files of a table. */
export type AsnSource = {
  readonly v4: string;
  readonly v6: string;
  /** Of the package that contains them. */
  readonly version: string;
};

/**
 * The first word of a file. A machine with another byte order reads another number. Raise the last digit when the columns change, or
 * when the same CSV files give other columns.
 */
const FORMAT = 0x4153_4e01;
const HEAD_WORDS = 16;
const HEAD_BYTES = HEAD_WORDS * Uint32Array.BYTES_PER_ELEMENT;
/** Words of the head: format, checksum of the rest, five counts, an unused word, and the source. */
const COUNTS_AT = 2;
const SOURCE_AT = 8;
const UNITS_V6 = 8;

/**
 * The columns of a file that {@link writeAsnFile} wrote from the same source, as views of one buffer. The checksum is compared, so a
 * damaged file is refused.
 * @throws for a file that is missing, incomplete, damaged, of another source or of another format.
 */
export function readAsnFile(file: string, source: AsnSource): AsnColumns {
  const bytes = readWhole(file);
  if (bytes.length < HEAD_BYTES) throw new Error("the file is incomplete");
  const head = new Uint32Array(bytes.buffer, 0, HEAD_WORDS);
  if (head[0] !== FORMAT) throw new Error("the file has another format");
  if (!isOf(bytes, source)) throw new Error("the file was made from other CSV files");
  const [v4 = 0, v6 = 0, names = 0, nameBytes = 0] = head.subarray(COUNTS_AT);
  const words = v4 * 3 + v6 + names * 2;
  const units = v6 * UNITS_V6 * 2;
  if (bytes.length !== HEAD_BYTES + words * 4 + units * 2 + nameBytes)
    throw new Error("the file is incomplete");
  if (head[1] !== crc32(bytes.subarray(COUNTS_AT * 4))) throw new Error("the file is damaged");
  let at = HEAD_BYTES;
  const take = (length: number, bytesEach: number): [ArrayBuffer, number, number] => {
    const from = at;
    at += length * bytesEach;
    return [bytes.buffer, from, length];
  };
  // Wide columns first, so that each begins at a multiple of the size of its elements.
  return {
    v4First: new Uint32Array(...take(v4, 4)),
    v4Last: new Uint32Array(...take(v4, 4)),
    v4Asn: new Uint32Array(...take(v4, 4)),
    v6Asn: new Uint32Array(...take(v6, 4)),
    nameAsn: new Uint32Array(...take(names, 4)),
    nameEnd: new Uint32Array(...take(names, 4)),
    v6First: new Uint16Array(...take(v6 * UNITS_V6, 2)),
    v6Last: new Uint16Array(...take(v6 * UNITS_V6, 2)),
    nameText: Buffer.from(...take(nameBytes, 1)),
  };
}

/** Writes the file in one step, because an ingress may read it at the same time. */
export function writeAsnFile(file: string, source: AsnSource, columns: AsnColumns): void {
  const { v4First, v4Last, v4Asn, v6First, v6Last, v6Asn } = columns;
  const { nameAsn, nameEnd, nameText } = columns;
  const head = new Uint32Array(HEAD_WORDS);
  head.set([FORMAT, 0, v4Asn.length, v6Asn.length, nameAsn.length, nameText.length]);
  const parts = [v4First, v4Last, v4Asn, v6Asn, nameAsn, nameEnd, v6First, v6Last, nameText];
  const bytes = Buffer.concat([head, ...parts].map(bytesOf));
  bytes.set(digestOf(source), SOURCE_AT * 4);
  head[1] = crc32(bytes.subarray(COUNTS_AT * 4));
  bytes.set(bytesOf(head.subarray(0, COUNTS_AT)), 0);
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, bytes);
  renameSync(draft, file);
}

function bytesOf({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

function isOf(bytes: Uint8Array, source: AsnSource): boolean {
  return digestOf(source).equals(bytes.subarray(SOURCE_AT * 4, HEAD_BYTES));
}

/** Without the times of the files, which differ in an image. A version of a package is published once, and never changes. */
function digestOf({ v4, v6, version }: AsnSource): Buffer {
  const sizes = [v4, v6].map((path) => statSync(path).size);
  return createHash("sha256")
    .update([version, ...sizes].join(" "))
    .digest();
}

/** Not with `readFileSync`: its buffer may begin in the middle of another, where views of words are refused. */
function readWhole(file: string): Uint8Array<ArrayBuffer> {
  const descriptor = openSync(file, "r");
  try {
    const bytes = new Uint8Array(fstatSync(descriptor).size);
    return bytes.subarray(0, readSync(descriptor, bytes));
  } finally {
    closeSync(descriptor);
  }
}
