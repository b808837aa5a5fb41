import type { HttpResponse } from "uWebSockets.js";

/** What is read and thrown away behind a body that is too long, so that its sender gets to read the refusal. */
const DISCARDED_BYTES_MAX = 1024 ** 2;

/** `too_long`: longer than its path allows · `no_room`: all bodies together are more than this process holds. */
export type BodyFault = "too_long" | "no_room";

/** Reads bodies, of all requests together at most `heldBytesMax` at a time. */
export class BodyReader {
  readonly #heldBytesMax: number;
  #heldBytes = 0;

  constructor(heldBytesMax: number) {
    this.#heldBytesMax = heldBytesMax;
  }

  /**
   * Calls `done` once, with the whole body or with why there is none. An aborted request calls nobody: then the function
   * that this answers must be called.
   */
  read(
    response: HttpResponse,
    bytesMax: number,
    done: (body: Uint8Array | BodyFault) => void,
  ): () => void {
    let chunks: Buffer[] = [];
    let bytes = 0;
    let held = 0;
    let fault: BodyFault | undefined;
    let isOver = false;
    const forget = (): void => {
      chunks = [];
      this.#heldBytes -= held;
      held = 0;
    };
    response.onData((chunk, isLast) => {
      if (isOver) return;
      bytes += chunk.byteLength;
      if (bytes > bytesMax) fault ??= "too_long";
      else if (this.#heldBytes + chunk.byteLength > this.#heldBytesMax) fault ??= "no_room";
      if (fault !== undefined) {
        forget();
      } else if (chunk.byteLength > 0) {
        // The chunk is gone when this call returns.
        chunks.push(Buffer.from(Buffer.from(chunk)));
        held += chunk.byteLength;
        this.#heldBytes += chunk.byteLength;
      }
      if (!isLast && bytes <= bytesMax + DISCARDED_BYTES_MAX) return;
      isOver = true;
      const body = Buffer.concat(chunks);
      forget();
      done(fault ?? body);
    });
    return () => {
      isOver = true;
      forget();
    };
  }
}
