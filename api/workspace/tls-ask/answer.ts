import type { ServedHosts } from "./served-hosts.ts";

/**
 * `GET /tls-ask?domain=…` of the operations port: the status tells an edge whether it may ask for a certificate for a name that
 * somebody connected with. 503 until the list was read.
 */
export function tlsAskStatus(hosts: Pick<ServedHosts, "serves">, query: URLSearchParams): number {
  const domain = query.get("domain") ?? "";
  if (domain === "") return 400;
  const isServed = hosts.serves(domain);
  if (isServed === undefined) return 503;
  return isServed ? 200 : 404;
}
