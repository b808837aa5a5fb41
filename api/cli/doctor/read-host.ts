import { existsSync, readdirSync, readFileSync, statfsSync, statSync } from "node:fs";
import { isIP } from "node:net";
import { dirname, join } from "node:path";
import type { HostFacts } from "../../../schemas/checks/judge-host.ts";
import type { Servers } from "../servers.ts";

const GROUP_AND_OTHERS = 0o077;
/**
 * systemd shows a credential to the user of its unit by an access list, which looks like rights of the group. A container runtime puts
 * secrets where only the container sees them, and chooses their rights.
 */
const HANDED_OVER = ["/run/credentials/", "/run/secrets/"];
/** Kubernetes keeps the files of a volume of secrets behind this link. */
const KUBERNETES_LINK = "..data";
/** Files of one-machine runs that hold passwords and keys. */
const SECRET_NAME =
  /\.password$|^servers\.json$|^demo\.json$|^console\.(json|secret)$|^secrets\.key$/;

/** The disk, limits, kernel and files of this host, and how it reaches the servers. */
export function readHost(
  dataDir: string,
  secretFiles: readonly string[],
  servers: Servers,
): HostFacts {
  const limits = readOrUndefined("/proc/self/limits") ?? "";
  return {
    disk: diskOf(dataDir),
    openFiles: /^Max open files\s+(\d+|unlimited)/m.exec(limits)?.[1],
    kernel: (setting) => readOrUndefined(join("/proc/sys", ...setting.split("."))),
    secrets: readSecrets(dataDir, secretFiles),
    plain: plainHosts({
      POSTGRES_URL: servers.postgres.url,
      NATS_URL: servers.nats.url,
      CLICKHOUSE_URL: servers.clickhouse.url,
    }),
  };
}

function diskOf(folder: string): HostFacts["disk"] {
  if (!existsSync(folder)) return undefined;
  const { blocks, bavail } = statfsSync(folder);
  return { folder, freeShare: blocks === 0 ? 1 : bavail / blocks };
}

function readOrUndefined(file: string): string | undefined {
  return existsSync(file) ? readFileSync(file, "utf8").trim() : undefined;
}

/** `handedOver`: folders that the system fills for one process. */
export function readSecrets(
  dataDir: string,
  files: readonly string[],
  handedOver: readonly string[] = HANDED_OVER,
): HostFacts["secrets"] {
  const secrets = secretsIn(dataDir);
  const given = files.filter((file) => !isHandedOver(file, handedOver));
  const all = [...given, ...secrets.files];
  const open = all.filter((file) => existsSync(file) && isOpen(file));
  return { files: all.length, open, unreadable: secrets.unreadable };
}

/** The files that others than their owner may read, apart from those that the system fills for one process. */
export function openFiles(
  files: readonly string[],
  handedOver: readonly string[] = HANDED_OVER,
): readonly string[] {
  return files.filter(
    (file) => !isHandedOver(file, handedOver) && existsSync(file) && isOpen(file),
  );
}

function secretsIn(dataDir: string): { readonly files: string[]; readonly unreadable?: string } {
  if (!existsSync(dataDir)) return { files: [] };
  try {
    const names = readdirSync(dataDir).filter((name) => SECRET_NAME.test(name));
    return { files: names.map((name) => join(dataDir, name)) };
  } catch (error) {
    return { files: [], unreadable: error instanceof Error ? error.message : String(error) };
  }
}

function isHandedOver(file: string, folders: readonly string[]): boolean {
  if (folders.some((folder) => file.startsWith(folder))) return true;
  return existsSync(join(dirname(file), KUBERNETES_LINK));
}

function isOpen(file: string): boolean {
  return (statSync(file).mode & GROUP_AND_OTHERS) !== 0;
}

/** `urls` by their variables. */
export function plainHosts(urls: Readonly<Record<string, string>>): HostFacts["plain"] {
  const plain = Object.entries(urls).map(([variable, text]): [string, string[]] => {
    const hosts = text.split(",").filter(isPlain);
    return [variable, hosts.map((url) => new URL(url.trim()).host)];
  });
  return new Map(plain.filter(([, hosts]) => hosts.length > 0));
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
