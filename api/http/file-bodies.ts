import type { IncomingMessage } from "node:http";
import type { FastifyInstance } from "fastify";
import { ApiError } from "../operation/errors.ts";
import type { FileBody, ReceivedFile } from "../operation/operation.ts";
import { ClientLeftError } from "./run-operation.ts";

/** How long bodies may take to arrive. */
export type BodyLimits = {
  /** Time for a body that is not a file, from the end of the headers. */
  readonly bodyMs: number;
  /** Longest pause between two pieces of a file. */
  readonly idleMs: number;
};

const LIMITS: BodyLimits = { bodyMs: 60_000, idleMs: 30_000 };

/** Longest time of a request with its body. 64 MiB arrive in time at 110 kB a second. */
export const FILE_TIMEOUT_MS = 10 * 60_000;

const MIB = 1024 ** 2;

/**
 * Node has one limit for all requests, which is set for files. Other bodies get a shorter limit here. A late body is answered as by Node,
 * and its connection is closed.
 */
export function limitBodies(app: FastifyInstance, { bodyMs } = LIMITS): void {
  app.addHook("onRequest", (request, _reply, done) => {
    const { raw, routeOptions } = request;
    if (hasBody(raw) && routeOptions.config.operation?.fileBody === undefined) {
      const timer = setTimeout(() => {
        if (raw.complete) return;
        const late = Object.assign(new Error("a body is late"), {
          code: "ERR_HTTP_REQUEST_TIMEOUT",
        });
        app.server.emit("clientError", late, raw.socket);
      }, bodyMs);
      timer.unref();
      raw.once("close", () => clearTimeout(timer));
    }
    done();
  });
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? "0") > 0;
}

/** For routes with files, whatever their media type: the operation reads the body itself. */
export function leaveBodiesUnread(files: FastifyInstance): void {
  files.removeAllContentTypeParsers();
  files.addContentTypeParser("*", (_request, _payload, done) => done(null, undefined));
}

/** The file that a request sends. What is left unread is discarded while the request is answered. */
export function receiveFile(
  raw: IncomingMessage,
  { bytesMax }: Pick<FileBody, "bytesMax">,
  { idleMs } = LIMITS,
): ReceivedFile {
  return { pieces: () => piecesOf(raw, bytesMax, idleMs) };
}

async function* piecesOf(
  raw: IncomingMessage,
  bytesMax: number,
  idleMs: number,
): AsyncGenerator<Uint8Array> {
  const pieces = raw.iterator({ destroyOnReturn: false });
  try {
    if (Number(raw.headers["content-length"] ?? "0") > bytesMax) throw tooLarge(bytesMax);
    let bytes = 0;
    for (;;) {
      const piece = await nextPiece(raw, pieces, idleMs);
      if (piece === undefined) return;
      bytes += piece.byteLength;
      if (bytes > bytesMax) throw tooLarge(bytesMax);
      yield piece;
    }
  } finally {
    await pieces.return?.();
    raw.resume();
  }
}

/** Undefined at the end. @throws {ClientLeftError} */
async function nextPiece(
  raw: IncomingMessage,
  pieces: AsyncIterator<unknown>,
  idleMs: number,
): Promise<Uint8Array | undefined> {
  const idle = setTimeout(() => raw.destroy(), idleMs);
  try {
    const next: IteratorResult<unknown, unknown> = await pieces.next();
    if (next.done === true) {
      // A request that was cut ends its stream, too.
      if (!raw.complete) throw new ClientLeftError();
      return undefined;
    }
    if (next.value instanceof Uint8Array) return next.value;
    throw new Error("expected a stream of bytes");
  } catch (error) {
    // Nothing but the connection can fail here.
    if (raw.destroyed && !raw.complete) throw new ClientLeftError({ cause: error });
    throw error;
  } finally {
    clearTimeout(idle);
  }
}

function tooLarge(bytesMax: number): ApiError {
  return new ApiError("payload_too_large", `the file may have at most ${bytesMax / MIB} MiB`);
}
