import { statfsSync } from "node:fs";

const SHARE_OF_DISK = 0.05;
const RESERVE_BYTES_MIN = 1024 ** 3;
/** 1 GiB may be most of a small disk. */
const SHARE_OF_DISK_MAX = 0.25;

/** Bytes of a disk of this size that the journal leaves free, unless a setting says otherwise. */
export function usualReserve(diskBytes: number): number {
  const wanted = Math.max(diskBytes * SHARE_OF_DISK, RESERVE_BYTES_MIN);
  return Math.floor(Math.min(wanted, diskBytes * SHARE_OF_DISK_MAX));
}

/**
 * Bytes of this folder's disk that the journal may still use: the free bytes minus the reserve, at least 0.
 * @throws when the file system does not answer.
 */
export function roomOn(folder: string, reserveBytes: number | undefined): number {
  const { bsize, blocks, bavail } = statfsSync(folder);
  return Math.max(0, bavail * bsize - (reserveBytes ?? usualReserve(blocks * bsize)));
}
