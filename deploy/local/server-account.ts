import { chownSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { commandOutput, outputIfInstalled } from "./command-output.ts";
import { LaunchError } from "./report.ts";

/** How to start a command so that it does not run as root. */
export interface AccountCommand {
  command: string;
  args: string[];
  account?: { uid: number; gid: number } | undefined;
}

/**
 * The account of Postgres, which refuses to run as root. If the launcher is not root, Postgres runs as the same user.
 *
 * `enter` is set if that user cannot enter `folder` (an installation below `/root`). Then the process gets only the capability to pass
 * through closed folders, so that `/root` can stay closed.
 */
export interface ServerAccount {
  uid: number;
  gid: number;
  enter?: "dac_read_search" | "dac_override";
}

/** Bits of the Linux capability set (`capability.h`). */
const CAPABILITY_BITS = { dac_override: 1n, dac_read_search: 2n, setpcap: 8n } as const;
const NOBODY = { uid: 65_534, gid: 65_534 };

/**
 * The account for a server that must not run as root; `undefined` if the launcher is not root.
 *
 * It is the owner of existing data, else the user `postgres` of this machine, else `nobody`.
 *
 * @param dataFolder where the server keeps its data; only its parent has to exist.
 * @param programs folders whose programs it must be able to run.
 * @throws {LaunchError} if the account cannot access the folders.
 */
export async function chooseServerAccount(
  dataFolder: string,
  programs: readonly string[],
): Promise<ServerAccount | undefined> {
  const owner = statSync(dataFolder, { throwIfNoEntry: false });
  const launcherUid = process.getuid?.();
  if (launcherUid !== 0) {
    if (owner !== undefined && launcherUid !== undefined && owner.uid !== launcherUid) {
      throw new LaunchError(
        `${dataFolder} belongs to another user (uid ${owner.uid}). Start as that user or as root, or choose another DATA_DIR.`,
      );
    }
    return undefined;
  }
  const account =
    owner !== undefined && owner.uid !== 0
      ? { uid: owner.uid, gid: owner.gid }
      : (accountNamed("postgres") ?? NOBODY);
  const closed = await firstClosedFolder([...programs, dirname(dataFolder)], account);
  if (closed === undefined) return account;
  const enter = await usableCapability();
  if (enter === undefined) {
    throw new LaunchError(
      `Postgres cannot run as root, and the user it runs as instead (uid ${account.uid}) may not enter ${closed}. ` +
        "Start as a normal user, or move the installation and DATA_DIR to a folder that others may enter, " +
        "or name a running server with POSTGRES_URL.",
    );
  }
  return { ...account, enter };
}

/** The command to run `command` as `account`. */
export function asAccount(
  account: ServerAccount | undefined,
  command: string,
  args: readonly string[],
): AccountCommand {
  if (account === undefined) return { command, args: [...args] };
  const { uid, gid, enter } = account;
  if (enter === undefined) return { command, args: [...args], account: { uid, gid } };
  const identity = [`--reuid=${uid}`, `--regid=${gid}`, "--clear-groups"];
  // initdb checks its programs with access(2), which ignores capabilities unless this bit is set.
  const capability = [
    "--securebits=+no_setuid_fixup",
    `--inh-caps=+${enter}`,
    `--ambient-caps=+${enter}`,
  ];
  return { command: "setpriv", args: [...identity, ...capability, "--", command, ...args] };
}

/** Creates a folder that only the account may read. */
export function makeAccountFolder(folder: string, account: ServerAccount | undefined): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (account !== undefined) chownSync(folder, account.uid, account.gid);
}

function accountNamed(name: string): { uid: number; gid: number } | undefined {
  const entries = readFileSync("/etc/passwd", "utf8").split("\n");
  const fields = entries.find((entry) => entry.startsWith(`${name}:`))?.split(":");
  const [uid, gid] = [Number(fields?.[2]), Number(fields?.[3])];
  return Number.isInteger(uid) && Number.isInteger(gid) && uid !== 0 ? { uid, gid } : undefined;
}

async function firstClosedFolder(
  folders: readonly string[],
  account: { uid: number; gid: number },
): Promise<string | undefined> {
  for (const folder of folders) {
    const { code } = await commandOutput("/bin/sh", ["-c", 'cd "$1"', "sh", folder], {
      account,
      cwd: "/",
    });
    if (code !== 0) return folder;
  }
  return undefined;
}

/** Tries the weaker capability first; containers often have only the stronger one. `undefined` without util-linux's setpriv. */
async function usableCapability(): Promise<ServerAccount["enter"]> {
  const setpriv = await outputIfInstalled("setpriv", ["--version"]);
  if (setpriv?.code !== 0) return undefined;
  const status = readFileSync("/proc/self/status", "utf8");
  const bits = BigInt(`0x${/^CapPrm:\s*([0-9a-f]+)$/m.exec(status)?.[1] ?? "0"}`);
  const isHeld = (name: keyof typeof CAPABILITY_BITS): boolean =>
    ((bits >> CAPABILITY_BITS[name]) & 1n) === 1n;
  if (!isHeld("setpcap")) return undefined;
  return (["dac_read_search", "dac_override"] as const).find(isHeld);
}
