import type { HttpResponse } from "uWebSockets.js";

/** Bytes read and discarded after a body that is too long, so that its sender can read the refusal. */
const DISCARDED_BYTES_MAX = 1024 ** 2;

/** `too_long`: longer than its path allows · `no_room`: all bodies together exceed the memory that this process may use for them. */
export type BodyFault = "too_long" | "no_room";

/** Reads bodies. Holds at most `heldBytesMax` bytes for all requests together. */
export class BodyReader {
  readonly #heldBytesMax: number;
  #heldBytes = 0;

  constructor(heldBytesMax: number) {
    this.#heldBytesMax = heldBytesMax;
  }

  /**
   * Calls `done` once, with the whole body or with the fault. Does not call it for an aborted request; the caller must then call the
   * returned function.
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
        // uWebSockets.js reuses the chunk's memory after this call.
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
