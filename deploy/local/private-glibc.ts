import { existsSync } from "node:fs";
import { join } from "node:path";
import { projectFile } from "../../schemas/host/project-root.ts";
import { commandOutput, lastLinesOf } from "./command-output.ts";
import { unpackDebianPackages } from "./debian-packages.ts";
import { LaunchError, type Report } from "./report.ts";

/** The command that starts Node; the program's file and arguments follow `args`. */
export interface NodeCommand {
  command: string;
  args: string[];
}

export interface NodeCommandOptions {
  runtimeDir: string;
  report: Report;
  /**
   * What to do where uWebSockets.js needs a newer C library and `runtimeDir` has none yet: download it, as whoever starts one machine or prepares
   * a host wants; or refuse and say what to run, as a process in production does, which changes nothing that nobody asked for.
   */
  ifMissing: "download" | "refuse";
  signal?: AbortSignal | undefined;
  /** By default the program that runs this. */
  node?: string;
}

/** By `process.arch`: the architecture in Debian's library paths, and the file of the loader. */
const LOADERS: Readonly<Record<string, { triplet: string; loader: string }>> = {
  x64: { triplet: "x86_64-linux-gnu", loader: "ld-linux-x86-64.so.2" },
  arm64: { triplet: "aarch64-linux-gnu", loader: "ld-linux-aarch64.so.1" },
};
const FOLDER = "glibc";
const PACKAGES = ["libc6", "libstdc++6", "libgcc-s1"] as const;
const LOAD_TEST = 'require("uWebSockets.js"); process.stdout.write("loaded")';

/**
 * The command that runs the ingress: plain Node where uWebSockets.js loads, else Node under a newer glibc that is
 * unpacked in `runtimeDir` and affects no other program. It tries to load uWebSockets.js instead of comparing versions.
 *
 * @throws {LaunchError} if it loads in neither way, or would only after a download that is not allowed.
 */
export async function ingressNodeCommand(options: NodeCommandOptions): Promise<NodeCommand> {
  const { node = process.execPath, runtimeDir, ifMissing } = options;
  const plain: NodeCommand = { command: node, args: [] };
  const plainFault = await loadFault(plain, options.signal);
  if (plainFault === undefined) return plain;
  if (!plainFault.includes("GLIBC")) throw notLoading(plainFault);
  const folder = join(runtimeDir, FOLDER);
  if (ifMissing === "refuse" && !existsSync(folder)) throw notPrepared(folder, plainFault);
  options.report.note(
    "ingress",
    `the C library of this system is too old for it: it runs with the one in ${folder}`,
  );
  await unpackDebianPackages({ ...options, name: FOLDER, packages: PACKAGES });
  const newer = nodeUnder(folder, node);
  const fault =
    newer === undefined ? "its loader is missing" : await loadFault(newer, options.signal);
  if (newer === undefined || fault !== undefined) throw notLoading(fault ?? plainFault);
  return newer;
}

/** `undefined` if the unpacked packages have no loader for this architecture. */
function nodeUnder(folder: string, node: string): NodeCommand | undefined {
  const names = LOADERS[process.arch];
  if (names === undefined) return undefined;
  // Before Debian 13, packages use /lib and /usr/lib separately.
  const libraries = ["usr/lib", "lib"]
    .map((top) => join(folder, top, names.triplet))
    .filter((path) => existsSync(path));
  const loader = libraries.map((path) => join(path, names.loader)).find((path) => existsSync(path));
  if (loader === undefined) return undefined;
  const search = ["--inhibit-cache", "--library-path", libraries.join(":")];
  return { command: loader, args: [...search, node] };
}

async function loadFault(
  node: NodeCommand,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  const { stdout, stderr } = await commandOutput(node.command, [...node.args, "-e", LOAD_TEST], {
    cwd: projectFile(),
    deadlineMs: 30_000,
    signal,
  });
  if (stdout === "loaded") return undefined;
  const said = stderr.split("\n");
  const line =
    said.find((text) => text.includes("GLIBC")) ?? said.find((text) => /^\w*Error/.test(text));
  return line ?? lastLinesOf(stderr);
}

function notPrepared(folder: string, fault: string): LaunchError {
  return new LaunchError(
    `The C library of this system is too old for uWebSockets.js (${fault.trim()}), and nothing is downloaded at a start. Use a system with ` +
      "glibc 2.38 or newer, such as Debian 13 or Ubuntu 24.04; or run `tracker ingress --prepare` once with the same settings, which " +
      `downloads ${PACKAGES.join(", ")} of a newer release with apt and unpacks them into ${folder}, for ingress alone.`,
  );
}

function notLoading(fault: string): LaunchError {
  return new LaunchError(
    `The ingress cannot load uWebSockets.js with Node ${process.version} on ${process.platform} ${process.arch}: ` +
      `${fault.trim()}. Use Node 20, 22, 24 or 25 on Linux or macOS (x64 or arm64).`,
  );
}
