import { statfsSync } from "node:fs";

const SHARE_OF_DISK = 0.05;
const RESERVE_BYTES_MIN = 1024 ** 3;
/** On a small disk 1 GiB may be most of it. */
const SHARE_OF_DISK_MAX = 0.25;

/** What the journal leaves of a disk of this size to others, unless a setting says otherwise: bytes. */
export function usualReserve(diskBytes: number): number {
  const wanted = Math.max(diskBytes * SHARE_OF_DISK, RESERVE_BYTES_MIN);
  return Math.floor(Math.min(wanted, diskBytes * SHARE_OF_DISK_MAX));
}

/**
 * Bytes that the journal may still take of the disk of this folder: what is free without the reserve for others, never less than
 * 0. @throws when the file system does not answer.
 */
export function roomOn(folder: string, reserveBytes: number | undefined): number {
  const { bsize, blocks, bavail } = statfsSync(folder);
  return Math.max(0, bavail * bsize - (reserveBytes ?? usualReserve(blocks * bsize)));
}
