import { Resolver } from "node:dns/promises";
import { readFile } from "node:fs/promises";
import { isIP } from "node:net";
import { NameError } from "./outgoing-failure.ts";

const HOSTS_FILE = "/etc/hosts";
const ANSWER_TIMEOUT_MS = 2_000;
const TRIES = 2;

/**
 * Addresses of a name: the loopback ones of `localhost`, else those of the hosts file, else those that name servers give. The
 * system's own resolver is not asked: each question would hold one of the few threads of the process, and four name servers
 * that hang would hold all of them (P23).
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
  // Made anew, so that it knows the name servers of now.
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

/** In the form of hosts(5). */
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
    // A system without one: name servers know all there is.
    return "";
  }
}
