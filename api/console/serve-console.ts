import { existsSync, readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { acceptsHtml } from "../../schemas/net/prefers-html.ts";
import { StaticText } from "../http/static-text.ts";
import { notFound } from "../operation/errors.ts";
import { consoleHeaders } from "./console-headers.ts";

/** Where the console is. */
const CONSOLE_PATH = "/console/";

const PAGE = "index.html";
const ASSETS = "assets";
const TYPES: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json; charset=utf-8",
  ".svg": "image/svg+xml",
};

/** A browser asks each time, and gets 304 while the file is the same. */
const ASK_EACH_TIME = "no-cache";
/** The address of an asset contains a hash of its content. */
const NEVER_CHANGES = "public, max-age=31536000, immutable";

type ConsoleFile = { readonly text: StaticText; readonly cacheControl: string };
/** The files of a build by their path below `/console/`. */
export type ConsoleFiles = ReadonlyMap<string, ConsoleFile>;

/** Undefined if `folder` holds no build. Files of types that the console does not have are left out. */
export function readConsole(folder: string): ConsoleFiles | undefined {
  if (!existsSync(join(folder, PAGE))) return undefined;
  const files = new Map<string, ConsoleFile>();
  for (const name of readdirSync(folder))
    addFile(files, folder, { name, cacheControl: ASK_EACH_TIME });
  for (const name of readdirSync(join(folder, ASSETS)))
    addFile(files, folder, { name: `${ASSETS}/${name}`, cacheControl: NEVER_CHANGES });
  return files;
}

function addFile(
  files: Map<string, ConsoleFile>,
  folder: string,
  { name, cacheControl }: { readonly name: string; readonly cacheControl: string },
): void {
  const contentType = TYPES[extname(name)];
  if (contentType === undefined) return;
  const text = readFileSync(join(folder, name), "utf8");
  files.set(name, { text: new StaticText(contentType, () => text), cacheControl });
}

/**
 * Serves the console. Paths are looked up in what was read at start, so no path of a request becomes the name of a file. Every other path
 * without a file extension is a screen, which the page finds by itself; a missing file is 404, because a page in its place would be
 * read as a script.
 */
export function serveConsole(
  app: FastifyInstance,
  { files, apiUrl }: { readonly files: ConsoleFiles; readonly apiUrl: string },
): void {
  const headers = consoleHeaders(apiUrl);
  const answer = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    void reply.headers(headers);
    const path = pathBelow(request.url);
    const file = files.get(path) ?? (isScreen(path, request) ? files.get(PAGE) : undefined);
    if (file === undefined) throw notFound("path");
    return file.text.send(request, reply.header("cache-control", file.cacheControl));
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
  return !last.includes(".") && acceptsHtml(headers.accept ?? "");
}
