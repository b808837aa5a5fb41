/**
 * Node's hooks of imports: a TypeScript source is what the build made of it in `.build`, or, if it is younger than that, what Vite's
 * compiler makes of it now. A module keeps the address of its source, and stack traces name lines of the source.
 */
import { readFileSync, statSync } from "node:fs";
import type { LoadHook, ResolveFnOutput, ResolveHook } from "node:module";
import { fileURLToPath } from "node:url";

/** The address of the project's folder, with a slash at its end. */
let root = "";

export function initialize(data: { readonly root: string }): void {
  ({ root } = data);
}

/** Vitest imports each file of tests under an address of its own, whose question mark it has escaped. */
const VITEST_QUERY = "%3Fvitest=";
const TYPESCRIPT = /\.tsx?$/;

export const resolve: ResolveHook = async (specifier, context, next) => {
  if (isSource(specifier) && specifier.includes(VITEST_QUERY))
    return found(specifier.replace(VITEST_QUERY, "?vitest="));
  if (!specifier.startsWith(".") || !isSource(context.parentURL ?? ""))
    return await next(specifier, context);
  const url = new URL(specifier, context.parentURL).href;
  if (TYPESCRIPT.test(url)) return found(url);
  // What the build made names its own files.
  const source = url.replace(/\.js$/, ".ts");
  return source !== url && writtenMs(source) > 0 ? found(source) : await next(specifier, context);
};

export const load: LoadHook = async (url, context, next) => {
  const source = url.replace(/\?.*$/, "");
  if (!isSource(source) || !TYPESCRIPT.test(source)) return await next(url, context);
  const built = `.build/${source.slice(root.length).replace(TYPESCRIPT, ".js")}`;
  const isFresh = writtenMs(`${root}${built}`) > writtenMs(source);
  return {
    format: "module",
    source: isFresh ? readBuilt(built) : await compile(fileURLToPath(source)),
    shortCircuit: true,
  };
};

function found(url: string): ResolveFnOutput {
  return { url, format: "module", shortCircuit: true };
}

function isSource(url: string): boolean {
  return (
    url.startsWith(root) && !url.includes("/node_modules/") && !url.startsWith(`${root}.build/`)
  );
}

/** 0 without such a file. */
function writtenMs(url: string): number {
  return statSync(new URL(url), { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

/** The map is beside the compiled file, not beside the source whose address the module has. Node takes a relative path only. */
function readBuilt(built: string): string {
  const up = "../".repeat(built.split("/").length - 2);
  return readFileSync(new URL(`${root}${built}`), "utf8").replace(
    /\n\/\/# sourceMappingURL=\S+\s*$/,
    `\n//# sourceMappingURL=${up}${built}.map\n`,
  );
}

async function compile(path: string): Promise<string> {
  const { transformWithOxc } = await import("vite");
  const text = readFileSync(path, "utf8");
  const { code, map } = await transformWithOxc(text, path, { sourcemap: true });
  const encoded = Buffer.from(JSON.stringify(map)).toString("base64");
  return `${code}\n//# sourceMappingURL=data:application/json;base64,${encoded}\n`;
}
