import { Resolver } from "node:dns/promises";
import { readFile } from "node:fs/promises";
import { isIP } from "node:net";
import { NameError } from "./outgoing-failure.ts";

const HOSTS_FILE = "/etc/hosts";
const ANSWER_TIMEOUT_MS = 2_000;
const TRIES = 2;

/**
 * Addresses of a name: loopback addresses for `localhost`, else those in the hosts file, else those from name servers. Does not use the
 * resolver of the operating system, because each call would block one of the few threads of the process: four slow name servers would block
 * all threads (P23).
 *
 * @param nameServers instead of the system's, as `address:port`.
 * @throws {NameError}
 */
export async function resolveHost(
  hostname: string,
  nameServers?: readonly string[],
): Promise<string[]> {
  const name = hostname.toLowerCase().replace(/\.$/, "");
  if (name === "localhost" || name.endsWith(".localhost")) return ["127.0.0.1", "::1"];
  const listed = addressesInHosts(await hostsFile(), name);
  if (listed.length > 0) return listed;
  // A new resolver for each call, so that it uses the current name servers.
  const resolver = new Resolver({ timeout: ANSWER_TIMEOUT_MS, tries: TRIES });
  if (nameServers !== undefined) resolver.setServers(nameServers);
  const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  const addresses = answers.flatMap((answer) =>
    answer.status === "fulfilled" ? answer.value : [],
  );
  if (addresses.length > 0) return addresses;
  const [first] = answers;
  const cause: unknown = first.status === "rejected" ? first.reason : undefined;
  throw new NameError(`no address of ${hostname} is known`, { cause });
}

/** The addresses of `name` in a file of the format hosts(5). */
export function addressesInHosts(hosts: string, name: string): string[] {
  return hosts.split("\n").flatMap((line) => {
    const [address = "", ...names] = line.replace(/#.*/, "").trim().split(/\s+/);
    const isMeant = names.some((listed) => listed.toLowerCase() === name);
    return isMeant && isIP(address) !== 0 ? [address] : [];
  });
}

async function hostsFile(): Promise<string> {
  try {
    return await readFile(HOSTS_FILE, "utf8");
  } catch {
    // No hosts file.
    return "";
  }
}
