import { createHash } from "node:crypto";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import type { FastifyInstance, FastifyRequest } from "fastify";

/** Browsers may show a copy this old; afterwards they ask whether it is current. */
const CACHE_CONTROL = "public, max-age=300";
const TAG_DIGITS = 32;
/** Of 11: nearly as small as the best one, in a tenth of the time. */
const BROTLI_QUALITY = 9;

const CODINGS = ["br", "gzip"] as const;
type Coding = (typeof CODINGS)[number];

export type StaticAnswer = {
  readonly path: string;
  readonly contentType: string;
  readonly text: string;
  readonly headers?: Readonly<Record<string, string>>;
};

/**
 * Serves a text that does not change while the process runs. The first request for a coding compresses it, and an unchanged copy
 * is answered with 304.
 */
export function serveStatic(app: FastifyInstance, answer: StaticAnswer): void {
  const plain = Buffer.from(answer.text);
  const digest = createHash("sha256").update(plain).digest("hex").slice(0, TAG_DIGITS);
  const compressed = new Map<Coding, Buffer>();
  const bodyIn = (coding: Coding): Buffer => {
    const body = compressed.get(coding) ?? compress(coding, plain);
    compressed.set(coding, body);
    return body;
  };
  app.get(answer.path, (request, reply) => {
    reply.headers({
      ...answer.headers,
      "cache-control": CACHE_CONTROL,
      "x-content-type-options": "nosniff",
      vary: "accept-encoding",
      // A weak tag: the bytes differ between codings, and the text does not.
      etag: `W/"${digest}"`,
    });
    if (isKnown(request, digest)) return reply.code(304).send();
    const coding = CODINGS.find((name) => isAccepted(request, name));
    if (coding !== undefined) reply.header("content-encoding", coding);
    return reply.type(answer.contentType).send(coding === undefined ? plain : bodyIn(coding));
  });
}

function compress(coding: Coding, plain: Buffer): Buffer {
  if (coding === "gzip") return gzipSync(plain);
  return brotliCompressSync(plain, {
    params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY },
  });
}

/** Whether `Accept-Encoding` names the coding without `q=0`. */
function isAccepted({ headers }: FastifyRequest, coding: Coding): boolean {
  return (headers["accept-encoding"] ?? "")
    .split(",")
    .map((part) => part.split(";").map((word) => word.trim().toLowerCase()))
    .some(([name, ...rest]) => name === coding && !rest.some((word) => /^q=0(\.0*)?$/.test(word)));
}

/** Compares as RFC 9110 (13.1.2) requires: any tag of the list, or `*`. */
function isKnown({ headers }: FastifyRequest, digest: string): boolean {
  return (headers["if-none-match"] ?? "")
    .split(",")
    .some((tag) => tag.trim() === "*" || tag.trim().replace(/^W\//, "") === `"${digest}"`);
}
