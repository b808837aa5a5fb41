import type { FastifyReply, FastifyRequest } from "fastify";
import type { StaticFile } from "./static-file.ts";

type Encoding = "br" | "gzip";

/** Sends the file in the best encoding that the client accepts, or 304 if it has this version. */
export function answerFile(
  request: FastifyRequest,
  reply: FastifyReply,
  file: StaticFile,
): FastifyReply {
  void reply.headers({
    "cache-control": file.cacheControl,
    etag: file.etag,
    vary: "accept-encoding",
    "x-content-type-options": "nosniff",
  });
  if (hasVersion(request.headers["if-none-match"], file.etag)) return reply.code(304).send();
  const { encoding, body } = encoded(file, request.headers["accept-encoding"] ?? "");
  if (encoding !== undefined) void reply.header("content-encoding", encoding);
  return reply.type(file.contentType).send(body);
}

function hasVersion(given: string | undefined, etag: string): boolean {
  if (given === undefined) return false;
  return given.split(",").some((one) => one.trim().replace(/^W\//, "") === etag || one.trim() === "*");
}

function encoded(
  { plain, brotli, gzip }: StaticFile,
  accepted: string,
): { readonly encoding: Encoding | undefined; readonly body: Buffer } {
  if (brotli !== undefined && accepts(accepted, "br")) return { encoding: "br", body: brotli };
  if (gzip !== undefined && accepts(accepted, "gzip")) return { encoding: "gzip", body: gzip };
  return { encoding: undefined, body: plain };
}

/** `q=0` refuses an encoding. Anything else is taken as accepted: which of two comes first is our choice. */
function accepts(accepted: string, encoding: Encoding): boolean {
  return accepted.split(",").some((part) => {
    const [name = "", ...parameters] = part.split(";").map((text) => text.trim().toLowerCase());
    return name === encoding && !parameters.some((one) => /^q=0(?:\.0*)?$/.test(one));
  });
}
