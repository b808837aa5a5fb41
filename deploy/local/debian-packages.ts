import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import {
  type CommandOutput,
  commandOutput,
  lastLinesOf,
  outputIfInstalled,
} from "./command-output.ts";
import { awaitFileLock } from "./file-lock.ts";
import { formatSeconds, LaunchError, type Report } from "./report.ts";

export interface UnpackOptions {
  runtimeDir: string;
  /** Name of the folder in `runtimeDir` that the packages are unpacked into. */
  name: string;
  packages: readonly string[];
  report: Report;
  signal?: AbortSignal | undefined;
}

/** A package source of this machine's apt. */
export interface AptSource {
  uri: string;
  release: string;
  component: string;
  /** `file:number` in apt's output; the file may name a keyring. */
  entry: string;
}

/** Releases whose own packages are too old for us. */
const OLD_RELEASES = new Set(["buster", "bullseye", "bookworm", "bionic", "focal", "jammy"]);
const NEWER_RELEASES: Readonly<Record<string, { releases: string[]; components: string }>> = {
  debian: { releases: ["trixie", "sid"], components: "main" },
  ubuntu: { releases: ["noble"], components: "main universe" },
};
const LISTS_FRESH_MS = 60 * 60_000;
const LOCK_WAIT_MS = 5 * 60_000;

/**
 * Downloads packages of a newer Debian (or Ubuntu) release with apt's own tools and unpacks them into
 * `runtimeDir/<name>`. Nothing is installed and root is not needed: apt works in its own folder, with the mirror, proxy and keys that this
 * machine already uses. An existing folder is used again.
 *
 * @returns the folder.
 * @throws {LaunchError} when this machine has no apt, or no release offers the packages.
 */
export async function unpackDebianPackages(options: UnpackOptions): Promise<string> {
  const folder = join(options.runtimeDir, options.name);
  if (existsSync(folder)) return folder;
  mkdirSync(options.runtimeDir, { recursive: true });
  // One start at a time: two would disturb each other's apt. The second one finds everything done.
  const lock = join(options.runtimeDir, "apt.lock");
  const release = await awaitFileLock(lock, "package download", LOCK_WAIT_MS);
  try {
    if (!existsSync(folder)) await downloadAndUnpack(options, folder);
  } finally {
    release();
  }
  return folder;
}

async function downloadAndUnpack(options: UnpackOptions, folder: string): Promise<void> {
  const { packages, report } = options;
  const startedAtMs = Date.now();
  const system = readOsRelease(readFileIfThere("/etc/os-release"));
  const sources = await aptSources();
  const faults: string[] = [];
  for (const release of releasesToTry(system)) {
    report.note("download", `${packages.join(", ")} from ${system.name} ${release} with apt`);
    const downloads = `${folder}.download`;
    rmSync(downloads, { recursive: true, force: true });
    mkdirSync(downloads, { recursive: true });
    const source = sourceLine(release, sources, system);
    const output = await downloadFrom({ release, source }, downloads, options);
    if (output.code === 0) {
      await unpackInto(folder, downloads, options);
      report.note("download", `done after ${formatSeconds(Date.now() - startedAtMs)}`);
      return;
    }
    faults.push(`${release}: ${lastLinesOf(output.stderr, 1)}`);
  }
  throw new LaunchError(
    `apt could not download ${packages.join(", ")} (${faults.join("; ")}). Is the network reachable?`,
  );
}

/** The indexes of the release, unless they are fresh, then the packages, into `downloads`. */
async function downloadFrom(
  { release, source }: { release: string; source: string },
  downloads: string,
  { runtimeDir, packages, signal }: UnpackOptions,
): Promise<CommandOutput> {
  const root = join(runtimeDir, `apt-${release}`);
  const settings = makeAptRoot(root, source);
  const stamp = join(root, "updated");
  const updatedAtMs = statSync(stamp, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  let updateFault: CommandOutput | undefined;
  if (Date.now() - updatedAtMs > LISTS_FRESH_MS) {
    const update = await commandOutput("apt-get", [...settings, "update"], { signal });
    if (update.code === 0) writeFileSync(stamp, "");
    else updateFault = update;
  }
  const download = await commandOutput("apt-get", [...settings, "download", ...packages], {
    cwd: downloads,
    signal,
  });
  // apt also fails when a hook of the machine fails, so only a failed download says that the indexes were not usable.
  return download.code === 0 ? download : (updateFault ?? download);
}

/** Options that make apt use nothing of the system except its settings (proxy) and keys. */
function makeAptRoot(root: string, source: string): string[] {
  for (const folder of ["etc", "parts", "state/lists/partial", "cache/archives/partial"]) {
    mkdirSync(join(root, folder), { recursive: true });
  }
  writeFileSync(join(root, "etc", "sources.list"), source);
  writeFileSync(join(root, "state", "status"), "");
  const settings = {
    "Dir::Etc::SourceList": join(root, "etc", "sources.list"),
    "Dir::Etc::SourceParts": join(root, "parts"),
    "Dir::Etc::Preferences": join(root, "etc", "preferences"),
    "Dir::Etc::PreferencesParts": join(root, "parts"),
    "Dir::State": join(root, "state"),
    "Dir::State::Lists": join(root, "state", "lists"),
    "Dir::State::Status": join(root, "state", "status"),
    "Dir::Cache": join(root, "cache"),
    "Dir::Cache::Archives": join(root, "cache", "archives"),
    "Dir::Log": root,
    "Acquire::Languages": "none",
    "Acquire::Retries": "2",
    // As root, apt would drop to a user that cannot write into our folder.
    "APT::Sandbox::User": "",
  };
  return ["-q", ...Object.entries(settings).flatMap(([name, value]) => ["-o", `${name}=${value}`])];
}

async function unpackInto(
  folder: string,
  downloads: string,
  options: UnpackOptions,
): Promise<void> {
  const draft = `${folder}.new`;
  rmSync(draft, { recursive: true, force: true });
  for (const file of readdirSync(downloads)) {
    const archive = join(downloads, file);
    const unpacked = await commandOutput("dpkg-deb", ["-x", archive, draft], {
      signal: options.signal,
    });
    if (unpacked.code !== 0) {
      throw new LaunchError(`${archive} could not be unpacked: ${lastLinesOf(unpacked.stderr)}`);
    }
  }
  renameSync(draft, folder);
  rmSync(downloads, { recursive: true, force: true });
}

/** Works even if apt's lists are empty, as in a fresh container. */
async function aptSources(): Promise<AptSource[]> {
  const output = await outputIfInstalled("apt-get", [
    "indextargets",
    "--no-release-info",
    "--format",
    "$(REPO_URI)|$(RELEASE)|$(COMPONENT)|$(SOURCESENTRY)",
    "Created-By: Packages",
  ]);
  if (output === undefined) {
    throw new LaunchError("This machine has no apt to download packages with.");
  }
  return parseAptSources(output.stdout);
}

/** One source per line: address, release, component and entry, separated by `|`. */
export function parseAptSources(text: string): AptSource[] {
  const sources: AptSource[] = [];
  for (const line of text.split("\n")) {
    const [uri = "", release = "", component = "", entry = ""] = line.split("|");
    if (uri !== "" && release !== "") sources.push({ uri, release, component, entry });
  }
  return sources;
}

export interface OsRelease {
  id: string;
  codename: string;
  name: string;
}

/** Reads `/etc/os-release`. Derivatives of Ubuntu count as Ubuntu, all others as Debian. */
export function readOsRelease(text: string): OsRelease {
  const field = (name: string): string =>
    new RegExp(`^${name}="?([^"\\n]*)"?$`, "m").exec(text)?.[1] ?? "";
  const family = `${field("ID")} ${field("ID_LIKE")}`.split(" ");
  const id = family.includes("ubuntu") ? "ubuntu" : "debian";
  const codename = field("UBUNTU_CODENAME") || field("VERSION_CODENAME");
  return { id, codename, name: id === "ubuntu" ? "Ubuntu" : "Debian" };
}

/** The machine's own release first unless it is known to be too old, then the newer ones. */
export function releasesToTry(system: OsRelease): string[] {
  const newer = NEWER_RELEASES[system.id]?.releases ?? [];
  const first =
    system.codename === "" || OLD_RELEASES.has(system.codename) ? [] : [system.codename];
  return [...new Set([...first, ...newer])];
}

/**
 * The line of sources.list for `release` on the mirror that the machine takes its own release from.
 *
 * @throws {LaunchError} when apt names no mirror.
 */
export function sourceLine(
  release: string,
  sources: readonly AptSource[],
  system: OsRelease,
  keyrings: readonly string[] = keyringsFor(sources, system),
): string {
  const usable = sources.filter(({ uri }) => !uri.startsWith("cdrom:"));
  const source =
    usable.find((one) => one.release === system.codename && one.component === "main") ?? usable[0];
  if (source === undefined) {
    throw new LaunchError("apt of this machine names no mirror to download packages from.");
  }
  const components = NEWER_RELEASES[system.id]?.components ?? "main";
  const signedBy = keyrings.length === 0 ? "" : `[signed-by=${keyrings.join(",")}] `;
  return `deb ${signedBy}${source.uri} ${release} ${components}\n`;
}

/** The keyrings of the distribution and of the machine's own entries, because a private mirror may have its own key. */
function keyringsFor(sources: readonly AptSource[], system: OsRelease): string[] {
  const named = sources.flatMap(({ entry }) => {
    const text = readFileIfThere(entry.replace(/:[0-9]+$/, ""));
    return [...text.matchAll(/signed-by\s*[=:]\s*([^\s\]]+)/gi)].flatMap((match) =>
      (match[1] ?? "").split(","),
    );
  });
  const usual = ["gpg", "pgp"].map(
    (suffix) => `/usr/share/keyrings/${system.id}-archive-keyring.${suffix}`,
  );
  return [...new Set([...usual, ...named])].filter(
    (file) => file.startsWith("/") && existsSync(file),
  );
}

function readFileIfThere(file: string): string {
  return existsSync(file) ? readFileSync(file, "utf8") : "";
}
