import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { projectFile } from "../../schemas/host/project-root.ts";
import type { Answer } from "../route.ts";
import { methodNotAllowed } from "./click-answers.ts";
import { OPEN_TO_ALL } from "./landing-answers.ts";
import type { BodyRoute } from "./postback.ts";

const METHODS = ["GET", "HEAD"];
/** One hour (G164): after that a new release of the script is on every page. */
const CACHED = ["Cache-Control", "public, max-age=3600"] as const;
const ETAG_DIGITS = 32;

/** A script as it is served, and the tag of its release. */
export type LandingScript = { readonly text: string; readonly etag: string };

/** @throws when the file is missing: the installation is incomplete. */
export async function readLandingScript(): Promise<LandingScript> {
  const text = servedScript(await readFile(projectFile("ingress", "landing", "sdk.js"), "utf8"));
  const digest = createHash("sha256").update(text).digest("hex");
  return { text, etag: `"${digest.slice(0, ETAG_DIGITS)}"` };
}

/** Without the lines that are comments and without indentation: every visitor loads it. No text of the script goes over several lines. */
export function servedScript(source: string): string {
  return source
    .replaceAll(/^[ \t]*(?:\/\*[\s\S]*?\*\/|\/\/.*)?[ \t]*\n/gm, "")
    .replaceAll(/^[ \t]+/gm, "");
}

/** `GET /sdk.js` for pages of any origin. */
export function landingScriptRoute({ text, etag }: LandingScript): BodyRoute {
  const headers = [
    CACHED,
    ["ETag", etag],
    OPEN_TO_ALL,
    // Pages that isolate themselves (COEP) may load it too.
    ["Cross-Origin-Resource-Policy", "cross-origin"],
  ] as const;
  const whole: Answer = {
    status: 200,
    headers: [["Content-Type", "text/javascript; charset=utf-8"], ...headers],
    body: text,
  };
  const unchanged: Answer = { status: 304, headers, body: "" };
  const { headers: refusalHeaders, ...refusal } = methodNotAllowed(METHODS);
  const wrongMethod = { ...refusal, headers: [...refusalHeaders, OPEN_TO_ALL] };
  return {
    patterns: ["/sdk.js"],
    methods: METHODS,
    bodyBytesMax: 0,
    route: ({ headers: { ifNoneMatch } }) =>
      Promise.resolve({ answer: isKnown(ifNoneMatch, etag) ? unchanged : whole }),
    tooLarge: whole,
    busy: whole,
    wrongMethod,
  };
}

/** Compares as RFC 9110 (13.1.2) requires: any tag of the list, weak or strong, or `*`. */
function isKnown(ifNoneMatch: string, etag: string): boolean {
  return ifNoneMatch
    .split(",")
    .some((tag) => tag.trim() === "*" || tag.trim().replace(/^W\//, "") === etag);
}
