import { closeSync, fdatasync, ftruncate, openSync, rmSync, statfsSync, writeSync } from "node:fs";
import { hasCLibrary } from "../../schemas/host/c-library.ts";
import { roomOn } from "./disk-room.ts";
import { MappedWindow, reserveRoom } from "./map-file.ts";

/** Small enough to be read back whole. */
const SEGMENT_BYTES_MAX = 16 * 1024 ** 2;
/** On a disk that is nearly full, smaller segments use the remaining space. */
const SEGMENT_BYTES_MIN = 1024 ** 2;
/** ext2 to ext4, XFS, tmpfs: here `posix_fallocate` guarantees the space, so a store into the mapping cannot fail. */
const MAPPABLE_FILE_SYSTEMS: readonly number[] = [0xef53, 0x58465342, 0x01021994];

/** Takes the frames of one segment file. What `put` has taken is with the kernel: it outlives this process (P1). */
export type SegmentWriter = {
  /** Returns false and writes nothing when the frame does not fit. @throws when the disk refuses the write. */
  readonly put: (frame: Buffer, length: number) => boolean;
  /** Calls `done` without an error when everything put before is on the disk. */
  readonly sync: (done: (error: Error | null) => void) => void;
  /** The last call: afterwards the segment is only read. */
  readonly close: () => void;
};

/** How the segments of a journal are written. */
export type SegmentMedium = {
  /** @throws when the file exists, or when there is no room for it. The segment before it gets no more frames. */
  readonly open: (path: string) => SegmentWriter;
  readonly close: () => void;
};

/** Returns the bytes that new segments may use. Called for each segment, of at most 16 MiB. */
type Room = () => number;

/**
 * Mapped memory where this folder's file system allows it; elsewhere each record is a system call. `reserveBytes` of the disk
 * stay free; undefined for the usual share (disk-room.ts).
 */
export function openSegmentMedium(folder: string, reserveBytes: number | undefined): SegmentMedium {
  const room = (): number => roomOn(folder, reserveBytes);
  return isMappable(folder) ? mappedMedium(room) : writtenMedium(room);
}

export function isMappable(folder: string): boolean {
  return hasCLibrary() && MAPPABLE_FILE_SYSTEMS.includes(statfsSync(folder).type);
}

/** A record costs 0.9 µs including page faults; with system calls it costs 2.3 µs. */
export function mappedMedium(room: Room = unlimited): SegmentMedium {
  const window = new MappedWindow(SEGMENT_BYTES_MAX);
  return {
    open: (path) => openSegment(path, (descriptor) => stored(descriptor, window, room())),
    close: () => window.close(),
  };
}

export function writtenMedium(room: Room = unlimited): SegmentMedium {
  return {
    open: (path) => openSegment(path, (descriptor) => written(descriptor, room())),
    close: () => undefined,
  };
}

function unlimited(): number {
  return Number.POSITIVE_INFINITY;
}

function openSegment(path: string, writer: (descriptor: number) => SegmentWriter): SegmentWriter {
  const descriptor = openSync(path, "wx+", 0o600);
  try {
    return writer(descriptor);
  } catch (error) {
    closeSync(descriptor);
    rmSync(path, { force: true });
    throw error;
  }
}

function stored(descriptor: number, window: MappedWindow, room: number): SegmentWriter {
  const size = reserveMost(descriptor, room);
  window.show(descriptor, size);
  let at = 0;
  return {
    put: (frame, length) => {
      if (at + length > size) return false;
      frame.copy(window.bytes, at, 0, length);
      at += length;
      return true;
    },
    sync: (done) => fdatasync(descriptor, done),
    // Gives back the unused reserve. It reads as zeros, so a failure here does no harm.
    close: () => ftruncate(descriptor, at, () => closeSync(descriptor)),
  };
}

function reserveMost(descriptor: number, room: number): number {
  for (let bytes = SEGMENT_BYTES_MAX; bytes >= SEGMENT_BYTES_MIN; bytes /= 2) {
    if (bytes <= room && reserveRoom(descriptor, bytes)) return bytes;
  }
  throw noRoom();
}

function noRoom(): Error {
  return new Error(
    "no room is left for the journal on its disk: the rest is reserved by JOURNAL_RESERVE_BYTES",
  );
}

function written(descriptor: number, room: number): SegmentWriter {
  if (room < SEGMENT_BYTES_MIN) throw noRoom();
  const size = Math.min(room, SEGMENT_BYTES_MAX);
  let at = 0;
  return {
    put: (frame, length) => {
      if (at > 0 && at + length > size) return false;
      for (let done = 0; done < length; ) {
        done += writeSync(descriptor, frame, done, length - done, at + done);
      }
      at += length;
      return true;
    },
    sync: (done) => fdatasync(descriptor, done),
    close: () => closeSync(descriptor),
  };
}
