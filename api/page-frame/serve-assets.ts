import { readFile } from "node:fs/promises";
import type { FastifyInstance } from "fastify";
import { projectFile } from "../../schemas/host/project-root.ts";

const ASSETS = [
  ["frame.css", "text/css; charset=utf-8"],
  ["frame.js", "text/javascript; charset=utf-8"],
] as const;

/** Serves the stylesheet and the script of every framed page. */
export async function serveFrameAssets(app: FastifyInstance): Promise<void> {
  for (const [name, type] of ASSETS) {
    const text = await readFile(projectFile("api", "page-frame", name), "utf8");
    app.get(`/docs/${name}`, (_request, reply) => reply.type(type).send(text));
  }
}
