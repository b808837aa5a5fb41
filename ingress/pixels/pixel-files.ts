import { closeSync, openSync, readdirSync, readFileSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { decodeSegment, FrameBuffer } from "../journal/frame.ts";

/*
 * Waiting pixels are stored next to the segments of the journal, in their own files with the same frames. The lane of a frame is its kind:
 * a pixel, or a mark that a pixel is settled. A file is deleted when every pixel in it is settled. Marks prevent settled pixels from being
 * sent again after a kill.
 */
const NAME = /^pixels-(\d{1,9})\.wal$/;
export const PIXEL_LANE = 0;
const SETTLED_LANE = 1;

export type PixelFile = {
  readonly path: string;
  /** Size when it was last counted. */
  bytes: number;
  /** Pixels that are not settled. */
  waiting: number;
};

export type WaitingPixel = {
  /** Position in its file. */
  readonly position: number;
  /** The JSON of a PostbackRequest. */
  readonly line: string;
};

/** Paths and numbers of the files in a folder, oldest first. */
export function pixelPaths(folder: string): { path: string; number: number }[] {
  return readdirSync(folder)
    .flatMap((name) => {
      const number = NAME.exec(name)?.[1];
      return number === undefined ? [] : [{ path: join(folder, name), number: Number(number) }];
    })
    .sort((a, b) => a.number - b.number);
}

export function hasPixels(folder: string): boolean {
  return pixelPaths(folder).length > 0;
}

export function pixelPath(folder: string, number: number): string {
  return join(folder, `pixels-${number}.wal`);
}

/** Reads the unsettled pixels of a file, in the order of arrival. It reads the file whole, because writers bound its size. */
export function readPixels(path: string): {
  waiting: WaitingPixel[];
  bytes: number;
  damagedBytes: number;
} {
  const content = readFileSync(path);
  const { records, damagedBytes } = decodeSegment(content);
  const settled = new Set(
    records.filter(({ lane }) => lane === SETTLED_LANE).map(({ position }) => position),
  );
  const waiting = records
    .filter(({ lane, position }) => lane === PIXEL_LANE && !settled.has(position))
    .map(({ position, line }) => ({ position, line }));
  return { waiting, bytes: content.length, damagedBytes };
}

/** The file whose pixels are being sent. No pixels are added to it. */
export class TakenPixels {
  readonly pixels: readonly WaitingPixel[];
  readonly #file: PixelFile;
  readonly #onFault: (error: unknown) => void;
  readonly #frame = new FrameBuffer();
  #descriptor: number | undefined;

  constructor(file: PixelFile, pixels: readonly WaitingPixel[], onFault: (error: unknown) => void) {
    this.#file = file;
    this.pixels = pixels;
    this.#onFault = onFault;
  }

  /**
   * The kernel has the mark when this returns. If a mark is missing after a kill, the pixel is sent again, which makes no second
   * conversion.
   */
  settle({ position }: WaitingPixel): void {
    this.#file.waiting -= 1;
    const { bytes, length } = this.#frame.encode({ lane: SETTLED_LANE, position, line: "" });
    try {
      this.#descriptor ??= openSync(this.#file.path, "a", 0o600);
      this.#file.bytes += writeSync(this.#descriptor, bytes, 0, length);
    } catch (error) {
      this.#onFault(error);
    }
  }

  /** Keeps the file for the next process. */
  leave(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }

  /** Deletes the file, and the personal data in it, when all pixels are settled. */
  remove(): void {
    this.leave();
    rmSync(this.#file.path, { force: true });
  }
}
