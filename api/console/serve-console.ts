import { existsSync, readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { notFound } from "../errors.ts";
import { answerFile } from "../static-files/answer-file.ts";
import {
  ASK_EACH_TIME,
  NEVER_CHANGES,
  type StaticFile,
  staticFile,
} from "../static-files/static-file.ts";
import { consoleHeaders } from "./console-headers.ts";

/** Where the console is. */
export const CONSOLE_PATH = "/console/";

const PAGE = "index.html";
const ASSETS = "assets";
const TYPES: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json; charset=utf-8",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2",
};

/** The files of a build by their path below `/console/`. Undefined if `folder` holds no build. */
export function readConsole(folder: string): ReadonlyMap<string, StaticFile> | undefined {
  if (!existsSync(join(folder, PAGE))) return undefined;
  const files = new Map<string, StaticFile>();
  for (const name of readdirSync(folder)) {
    if (TYPES[extname(name)] !== undefined) files.set(name, readFile(folder, name, ASK_EACH_TIME));
  }
  for (const name of readdirSync(join(folder, ASSETS))) {
    files.set(`${ASSETS}/${name}`, readFile(join(folder, ASSETS), name, NEVER_CHANGES));
  }
  return files;
}

function readFile(folder: string, name: string, cacheControl: string): StaticFile {
  const contentType = TYPES[extname(name)] ?? "application/octet-stream";
  return staticFile(readFileSync(join(folder, name)), { contentType, cacheControl });
}

/**
 * Serves the console. Paths are looked up in what was read at start, so no path of a request becomes the name of a file. Every other path
 * without a file extension is a screen, which the page finds by itself; a missing file is 404, because a page in its place would be
 * read as a script.
 */
export function serveConsole(
  app: FastifyInstance,
  { files, apiUrl }: { readonly files: ReadonlyMap<string, StaticFile>; readonly apiUrl: string },
): void {
  const headers = consoleHeaders(apiUrl);
  const answer = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    void reply.headers(headers);
    const path = pathBelow(request.url);
    const file = files.get(path) ?? (isScreen(path, request) ? files.get(PAGE) : undefined);
    if (file === undefined) throw notFound("path");
    return answerFile(request, reply, file);
  };
  app.get(CONSOLE_PATH, answer);
  app.get(`${CONSOLE_PATH}*`, answer);
  app.get(CONSOLE_PATH.slice(0, -1), (_request, reply) => reply.redirect(CONSOLE_PATH, 302));
}

function pathBelow(url: string): string {
  const [path = ""] = url.split("?");
  return path.slice(CONSOLE_PATH.length);
}

function isScreen(path: string, { headers }: FastifyRequest): boolean {
  const last = path.slice(path.lastIndexOf("/") + 1);
  return !last.includes(".") && (headers.accept ?? "").includes("text/html");
}
