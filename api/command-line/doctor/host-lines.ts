import { existsSync, readdirSync, readFileSync, statfsSync, statSync } from "node:fs";
import { isIP } from "node:net";
import { dirname, join } from "node:path";
import { judgeJournal } from "../../../schemas/durability/judge-journal.ts";
import { linesOf, type ReportLine } from "./report-line.ts";

const OPEN_FILES_MIN = 65_536;
const FREE_SHARE_WARN = 0.15;
const FREE_SHARE_MIN = 0.05;
const GROUP_AND_OTHERS = 0o077;
/**
 * systemd shows a credential to the user of its unit by an access list, which looks like rights of the group. A container runtime puts
 * secrets where only the container sees them, and chooses their rights.
 */
const HANDED_OVER = ["/run/credentials/", "/run/secrets/"];
/** Kubernetes keeps the files of a volume of secrets behind this link. */
const KUBERNETES_LINK = "..data";
/** Files of one-machine runs that hold passwords and keys. */
const SECRET_NAME = /\.password$|^servers\.json$|^demo\.json$|^console\.(json|secret)$/;

type Tuning = {
  readonly name: string;
  readonly least?: number;
  readonly most?: number;
  readonly why: string;
};

/** Kernel settings of a host that answers clicks. */
const TUNINGS: readonly Tuning[] = [
  {
    name: "net.ipv4.tcp_migrate_req",
    least: 1,
    why: "a closing worker resets waiting connections",
  },
  { name: "net.core.somaxconn", least: 65_535, why: "bursts of connections are dropped" },
  { name: "net.ipv4.tcp_max_syn_backlog", least: 65_535, why: "bursts of connections are dropped" },
  { name: "net.core.netdev_max_backlog", least: 250_000, why: "bursts of packets are dropped" },
  { name: "vm.swappiness", most: 1, why: "a swapped process answers late" },
];

/** The disk, file system, limits and kernel of this host. `proc` is /proc, or a copy of it in tests. */
export function hostLines(dataDir: string, isStrict: boolean, proc = "/proc"): ReportLine[] {
  return [
    ...diskLines(dataDir),
    ...journalLines(dataDir, isStrict),
    openFilesLine(proc),
    ...TUNINGS.map((tuning) => tuningLine(tuning, proc)),
  ];
}

function diskLines(dataDir: string): ReportLine[] {
  if (!existsSync(dataDir)) return [];
  const { blocks, bavail } = statfsSync(dataDir);
  const share = blocks === 0 ? 1 : bavail / blocks;
  const free = `${Math.round(share * 100)} % of the disk of ${dataDir} is free`;
  if (share >= FREE_SHARE_WARN) return [{ state: "ok", subject: "disk", text: free }];
  const state = share < FREE_SHARE_MIN ? "refuse" : "warn";
  const text = `${free}: make room, or journals go to NATS only.`;
  return [{ state, subject: "disk", text }];
}

function journalLines(dataDir: string, isStrict: boolean): ReportLine[] {
  const folder = join(dataDir, "journal");
  if (!existsSync(folder)) return [];
  const { type: fileSystem } = statfsSync(folder);
  const disk = { folder, fileSystem, isLockKept: undefined, sync: "always" } as const;
  return linesOf(judgeJournal(disk), isStrict);
}

function openFilesLine(proc: string): ReportLine {
  const subject = "open files";
  const limits = readOrUndefined(join(proc, "self", "limits")) ?? "";
  const soft = /^Max open files\s+(\d+|unlimited)/m.exec(limits)?.[1];
  if (soft === undefined) return unreadable(subject);
  const text = `the limit is ${soft}`;
  if (soft === "unlimited" || Number(soft) >= OPEN_FILES_MIN) return { state: "ok", subject, text };
  const remedy = "set LimitNOFILE=1048576 in the unit, or raise it with ulimit -n";
  return { state: "warn", subject, text: `${text}, too few for many visitors: ${remedy}.` };
}

function tuningLine({ name, least, most, why }: Tuning, proc: string): ReportLine {
  const given = readOrUndefined(join(proc, "sys", ...name.split(".")));
  if (given === undefined) return unreadable(name);
  const value = Number(given);
  const wanted = least ?? most ?? value;
  const isWell = (least === undefined || value >= least) && (most === undefined || value <= most);
  if (isWell) return { state: "ok", subject: name, text: `is ${value}` };
  const text = `is ${value}, so ${why}: run \`sysctl -w ${name}=${wanted}\` and note it in /etc/sysctl.d.`;
  return { state: "warn", subject: name, text };
}

function unreadable(subject: string): ReportLine {
  return { state: "warn", subject, text: "cannot be read here: look at it on the host itself." };
}

function readOrUndefined(file: string): string | undefined {
  return existsSync(file) ? readFileSync(file, "utf8").trim() : undefined;
}

/** Files with secrets that others than their owner may read. `handedOver`: folders that the system fills for one process. */
export function secretLines(
  dataDir: string,
  files: readonly string[],
  handedOver: readonly string[] = HANDED_OVER,
): ReportLine[] {
  const own = secretsIn(dataDir);
  const given = files.filter((file) => !isHandedOver(file, handedOver));
  const all = [...given, ...own.files];
  const open = all.filter((file) => existsSync(file) && isOpen(file));
  const lines = open.map(
    (file): ReportLine => ({
      state: "refuse",
      subject: "secrets",
      text: `${file} can be read by other users of this host: run \`chmod 600 ${file}\`.`,
    }),
  );
  if (own.fault !== undefined) return [...lines, own.fault];
  if (lines.length > 0) return lines;
  const text = `${all.length} files, each for its owner only`;
  return [{ state: "ok", subject: "secrets", text }];
}

function secretsIn(dataDir: string): { readonly files: string[]; readonly fault?: ReportLine } {
  if (!existsSync(dataDir)) return { files: [] };
  try {
    const names = readdirSync(dataDir).filter((name) => SECRET_NAME.test(name));
    return { files: names.map((name) => join(dataDir, name)) };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const text = `DATA_DIR cannot be read (${why}): run this as the user of the processes.`;
    return { files: [], fault: { state: "warn", subject: "secrets", text } };
  }
}

function isHandedOver(file: string, folders: readonly string[]): boolean {
  if (folders.some((folder) => file.startsWith(folder))) return true;
  return existsSync(join(dirname(file), KUBERNETES_LINK));
}

function isOpen(file: string): boolean {
  return (statSync(file).mode & GROUP_AND_OTHERS) !== 0;
}

/** Connections to other hosts that are not encrypted. `urls` by their variables. */
export function tlsLines(urls: Readonly<Record<string, string>>): ReportLine[] {
  return Object.entries(urls).map(([variable, text]) => {
    const plain = text
      .split(",")
      .filter(isPlain)
      .map((url) => new URL(url.trim()).host);
    if (plain.length === 0) {
      return {
        state: "ok",
        subject: "TLS",
        text: `${variable} is encrypted, or stays on this host`,
      };
    }
    const what = `${variable} reaches ${plain.join(", ")} without TLS`;
    const text_ = `${what}, so others in that network can read what passes: configure TLS there and in the URL.`;
    return { state: "warn", subject: "TLS", text: text_ };
  });
}

function isPlain(text: string): boolean {
  const { protocol, hostname, searchParams } = new URL(text.trim());
  if (isLoopback(hostname.replace(/^\[|\]$/g, ""))) return false;
  if (/^postgres(ql)?:$/.test(protocol)) {
    return !/^(require|verify-ca|verify-full)$/.test(searchParams.get("sslmode") ?? "");
  }
  return protocol !== "tls:" && protocol !== "https:";
}

function isLoopback(host: string): boolean {
  if (isIP(host) === 4) return host.startsWith("127.");
  return host === "localhost" || host === "::1";
}
