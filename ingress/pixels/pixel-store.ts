import { closeSync, fsync, openSync, renameSync } from "node:fs";
import type { PostbackRequest } from "../../schemas/events/postback-request.ts";
import { FRAME_HEAD_BYTES, FrameBuffer } from "../journal/frame.ts";
import { type SegmentWriter, writtenMedium } from "../journal/segment-writer.ts";
import { SyncGroup } from "../journal/sync-group.ts";
import type { PixelEvents } from "./metrics.ts";
import {
  PIXEL_LANE,
  type PixelFile,
  pixelPath,
  pixelPaths,
  readPixels,
  TakenPixels,
} from "./pixel-files.ts";

/** For all files together: some 100,000 pixels. */
const BYTES_MAX = 64 * 1024 ** 2;
/** A file of this size is closed for writing. One file at a time is in memory. */
const FILE_BYTES = 1024 ** 2;

export type PixelStoreOptions = {
  /** Locked by this process. */
  readonly folder: string;
  readonly events: PixelEvents;
  readonly bytesMax?: number;
  readonly fileBytes?: number;
};

type OpenFile = {
  readonly file: PixelFile;
  readonly writer: SegmentWriter;
  readonly group: SyncGroup;
  nextPosition: number;
};

/** Pixels on the disk of this process, to be recorded later, oldest file first (P15). */
export class PixelStore {
  readonly #folder: string;
  readonly #events: PixelEvents;
  readonly #bytesMax: number;
  readonly #fileBytes: number;
  readonly #descriptor: number;
  readonly #medium = writtenMedium();
  readonly #frame = new FrameBuffer();
  readonly #closing = new Set<Promise<void>>();
  /** Files that are closed for writing. */
  readonly #sealed: PixelFile[] = [];
  #current: OpenFile | undefined;
  #taken: PixelFile | undefined;
  #nextNumber = 1;

  /** Counts what a former process left. */
  constructor(options: PixelStoreOptions) {
    this.#folder = options.folder;
    this.#events = options.events;
    this.#bytesMax = options.bytesMax ?? BYTES_MAX;
    this.#fileBytes = options.fileBytes ?? FILE_BYTES;
    this.#descriptor = openSync(options.folder, "r");
    for (const { path, number } of pixelPaths(options.folder)) {
      this.#nextNumber = number + 1;
      this.#addSealed(path);
    }
  }

  get waiting(): number {
    return this.#files().reduce((sum, { waiting }) => sum + waiting, 0);
  }

  get bytes(): number {
    return this.#files().reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** Resolves when the pixel is on the disk, or was counted as given up. */
  async keep(report: PostbackRequest): Promise<void> {
    const line = JSON.stringify(report);
    if (this.bytes + FRAME_HEAD_BYTES + Buffer.byteLength(line) > this.#bytesMax) {
      this.#events.givenUp("full", this.waiting);
      return;
    }
    let open: OpenFile;
    try {
      open = this.#put(line);
    } catch (error) {
      this.#events.diskFailed(error);
      this.#events.givenUp("disk", this.waiting);
      return;
    }
    this.#events.kept(this.waiting);
    // The group has reported a fault: the kernel still has the pixel, and there is no safer place for it.
    await new Promise<void>((resolve) => {
      open.group.whenSynced(() => resolve());
    });
  }

  /** The oldest file with its pixels; undefined when none waits. Only one may be taken at a time. */
  takeOldest(): TakenPixels | undefined {
    if (this.#taken !== undefined) throw new Error("a file of pixels is already taken");
    for (;;) {
      if (this.#sealed.length === 0) this.#seal();
      const file = this.#sealed.shift();
      if (file === undefined) return undefined;
      const { waiting } = this.#read(file);
      const taken = new TakenPixels(file, waiting, (error) => this.#events.diskFailed(error));
      if (waiting.length > 0) {
        this.#taken = file;
        return taken;
      }
      taken.remove();
    }
  }

  /** Gives back the file from {@link takeOldest}: deletes it when all its pixels are settled, else it is the oldest again. */
  giveBack(taken: TakenPixels, isSettled: boolean): void {
    const file = this.#taken;
    this.#taken = undefined;
    if (isSettled) {
      taken.remove();
      return;
    }
    taken.leave();
    if (file !== undefined) this.#sealed.unshift(file);
  }

  /**
   * Moves the files of a dead process to this folder: one rename each, so that a pixel is in one folder at any time. The caller
   * holds the lock of the other folder. A file without room stays there until the next attempt.
   */
  adopt(folder: string): void {
    for (const { path } of pixelPaths(folder)) {
      if (this.bytes + readPixels(path).bytes > this.#bytesMax) return;
      const moved = pixelPath(this.#folder, this.#nextNumber);
      this.#nextNumber += 1;
      renameSync(path, moved);
      this.#addSealed(moved);
    }
  }

  /** Resolves when everything is on the disk. Nothing may be kept afterwards. */
  async close(): Promise<void> {
    this.#seal();
    await Promise.all(this.#closing);
    closeSync(this.#descriptor);
    this.#medium.close();
  }

  #files(): PixelFile[] {
    const out = this.#taken === undefined ? [] : [this.#taken];
    const current = this.#current === undefined ? [] : [this.#current.file];
    return [...out, ...this.#sealed, ...current];
  }

  /** Reads a file. A file that cannot be read now becomes the last one. */
  #read(file: PixelFile): ReturnType<typeof readPixels> {
    try {
      return readPixels(file.path);
    } catch (error) {
      this.#sealed.push(file);
      throw error;
    }
  }

  #addSealed(path: string): void {
    const { waiting, bytes, damagedBytes } = readPixels(path);
    if (damagedBytes > 0) this.#events.damaged(damagedBytes);
    this.#sealed.push({ path, bytes, waiting: waiting.length });
  }

  #put(line: string): OpenFile {
    if (this.#current !== undefined && this.#current.file.bytes >= this.#fileBytes) this.#seal();
    this.#current ??= this.#open();
    const open = this.#current;
    const position = open.nextPosition;
    const frame = this.#frame.encode({ lane: PIXEL_LANE, position, line });
    if (!open.writer.put(frame.bytes, frame.length))
      throw new Error(`a pixel of ${frame.length} bytes fits in no file`);
    open.nextPosition += 1;
    open.file.bytes += frame.length;
    open.file.waiting += 1;
    open.group.noteWritten();
    return open;
  }

  #open(): OpenFile {
    const path = pixelPath(this.#folder, this.#nextNumber);
    const writer = this.#medium.open(path);
    this.#nextNumber += 1;
    const group = new SyncGroup(writer, (done) => fsync(this.#descriptor, done), {
      onFault: (error) => this.#events.diskFailed(error),
    });
    return { file: { path, bytes: 0, waiting: 0 }, writer, group, nextPosition: 0 };
  }

  #seal(): void {
    const open = this.#current;
    if (open === undefined) return;
    this.#current = undefined;
    this.#sealed.push(open.file);
    const closed = open.group.close();
    this.#closing.add(closed);
    void closed.then(() => this.#closing.delete(closed));
  }
}
