import { createHash } from "node:crypto";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

/** Browsers show a copy of this age without asking; then they ask whether it is current. */
const CACHE_CONTROL = "public, max-age=300";
const TAG_DIGITS = 32;
/** Characters of a header that may list many things. Browsers send a tenth of it. */
const LOOKED_AT_MAX = 1_000;
/** The highest quality, 11, takes 4 times as long for 10 % fewer bytes. */
const BROTLI_QUALITY = 9;

type Packed = {
  readonly etag: string;
  readonly plain: Buffer;
  /** In the order in which we prefer them. */
  readonly codings: readonly { readonly name: string; readonly body: Buffer }[];
};

/** A text that stays the same while the process runs. It is made and compressed at its first request. */
export class StaticText {
  readonly #contentType: string;
  readonly #make: () => string;
  #packed: Packed | undefined;

  constructor(contentType: string, make: () => string) {
    this.#contentType = contentType;
    this.#make = make;
  }

  /** Answers with the text in a coding that the client accepts, or with 304 if the client has it. The caller sets `cache-control`. */
  send(request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const { etag, plain, codings } = (this.#packed ??= pack(this.#make()));
    // The tag is weak, because all codings of one text share it.
    reply.headers({ etag, vary: "accept-encoding", "x-content-type-options": "nosniff" });
    if (namesTag(request, etag)) return reply.code(304).send();
    const accepted = codings.find(({ name }) => accepts(request, name));
    if (accepted !== undefined) reply.header("content-encoding", accepted.name);
    return reply.type(this.#contentType).send(accepted?.body ?? plain);
  }
}

export type StaticAnswer = {
  readonly path: string;
  readonly contentType: string;
  readonly text: string;
  readonly headers?: Readonly<Record<string, string>>;
};

/** Serves a text at a path outside `/api/v1`. It needs no key. */
export function serveStatic(app: FastifyInstance, answer: StaticAnswer): void {
  const { path, contentType, text, headers = {} } = answer;
  const served = new StaticText(contentType, () => text);
  app.get(path, (request, reply) =>
    served.send(request, reply.headers({ ...headers, "cache-control": CACHE_CONTROL })),
  );
}

function pack(text: string): Packed {
  const plain = Buffer.from(text);
  const digest = createHash("sha256").update(plain).digest("hex").slice(0, TAG_DIGITS);
  const params = { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY };
  return {
    etag: `W/"${digest}"`,
    plain,
    codings: [
      { name: "br", body: brotliCompressSync(plain, { params }) },
      { name: "gzip", body: gzipSync(plain) },
    ],
  };
}

function accepts({ headers }: FastifyRequest, coding: string): boolean {
  const named = [headers["accept-encoding"] ?? ""]
    .join(",")
    .slice(0, LOOKED_AT_MAX)
    .toLowerCase()
    .split(",")
    .map((part) => part.trim().split(/\s*;\s*/));
  return named.some(([name, quality]) => name === coding && !/^q=0(\.0*)?$/.test(quality ?? ""));
}

function namesTag({ headers }: FastifyRequest, etag: string): boolean {
  const tags = (headers["if-none-match"] ?? "").slice(0, LOOKED_AT_MAX).split(",");
  return tags.some((tag) => tag.trim() === etag);
}
