import { readFile } from "node:fs/promises";
import type { FastifyInstance } from "fastify";
import { projectFile } from "../../../schemas/host/project-root.ts";
import { serveStatic } from "../../http/static-text.ts";
import { FRAME_SCRIPT, FRAME_STYLE } from "./page-frame.ts";

const ASSETS = [
  { path: FRAME_STYLE, file: "frame.css", contentType: "text/css; charset=utf-8" },
  { path: FRAME_SCRIPT, file: "frame.js", contentType: "text/javascript; charset=utf-8" },
];

/** Serves the stylesheet and the script of every framed page. */
export async function serveFrameAssets(app: FastifyInstance): Promise<void> {
  for (const { path, file, contentType } of ASSETS) {
    const text = await readFile(projectFile("api", "docs", "page-frame", file), "utf8");
    serveStatic(app, { path, contentType, text });
  }
}
