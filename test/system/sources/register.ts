/** Imported by vitest and by each of its workers before anything else, as the build made it: Node imports the sources itself (hooks.ts). */
import { register } from "node:module";

// This file runs in the folder of the build.
const root = new URL("../../../../", import.meta.url).href;

register("./hooks.js", import.meta.url, { data: { root } });
