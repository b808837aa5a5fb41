import { join } from "node:path";
import { outputIfInstalled } from "./command-output.ts";
import { unpackDebianPackages } from "./debian-packages.ts";
import type { EmbeddedServerOptions } from "./embedded-server.ts";
import { LaunchError } from "./report.ts";

/** JetStream can flush every write only from 2.10 on. */
const VERSION_MIN = { major: 2, minor: 10 };

/**
 * A NATS server that is new enough: the one on PATH, else the package of a newer Debian or Ubuntu release.
 *
 * @throws {LaunchError} when there is neither.
 */
export async function natsProgram(
  options: Pick<EmbeddedServerOptions, "runtimeDir" | "report" | "signal">,
): Promise<string> {
  const installed = await outputIfInstalled("nats-server", ["--version"]);
  if (installed !== undefined && isNewEnough(installed.stdout)) return "nats-server";
  if (installed !== undefined) {
    const found = installed.stdout.trim() || "of unknown version";
    options.report.note("nats", `the NATS server on PATH (${found}) is older than 2.10, not used`);
  }
  const program = await downloadedProgram(options);
  const downloaded = await outputIfInstalled(program, ["--version"]);
  if (downloaded !== undefined && isNewEnough(downloaded.stdout)) return program;
  throw new LaunchError(`${program} does not run here. ${HOW_TO_INSTALL}`);
}

const HOW_TO_INSTALL =
  "Install NATS server 2.10 or newer (macOS: `brew install nats-server`; elsewhere the package of your distribution or " +
  "the release archive of the NATS project) so that `nats-server` is on PATH, or name a running server with NATS_URL.";

async function downloadedProgram({
  runtimeDir,
  report,
  signal,
}: Pick<EmbeddedServerOptions, "runtimeDir" | "report" | "signal">): Promise<string> {
  try {
    const packages = { runtimeDir, name: "nats-server", packages: ["nats-server"], report, signal };
    return join(await unpackDebianPackages(packages), "usr", "sbin", "nats-server");
  } catch (error) {
    if (error instanceof LaunchError) throw new LaunchError(`${error.message} ${HOW_TO_INSTALL}`);
    throw error;
  }
}

/** Whether `nats-server: v2.10.27` names 2.10 or newer. */
export function isNewEnough(versionText: string): boolean {
  const match = /v?(\d+)\.(\d+)\.\d+/.exec(versionText);
  if (match === null) return false;
  const [major, minor] = [Number(match[1]), Number(match[2])];
  return major > VERSION_MIN.major || (major === VERSION_MIN.major && minor >= VERSION_MIN.minor);
}
