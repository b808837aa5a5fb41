import { readFileSync } from "node:fs";
import { checkServerIdentity } from "node:tls";
import {
  type Authenticator,
  type ConnectionOptions,
  credsAuthenticator,
  nkeyAuthenticator,
  usernamePasswordAuthenticator,
} from "@nats-io/transport-node";
import type { NatsAccess } from "./access.ts";

/** The NATS servers of an installation, and what is needed to reach them. */
export type NatsServers = {
  /** `nats://user:password@host:port` or `tls://…`, several separated by commas, with the same user in all of them. */
  readonly url: string;
  readonly access?: NatsAccess;
};

const PORT = "4222";
/** What Node.js checks when the client gives no name. */
const UNNAMED = "localhost";

/** The servers as the client wants them. It reads files and secrets again for each new connection. */
export function connectionOptions({
  url,
  access = {},
}: NatsServers): Pick<ConnectionOptions, "servers" | "authenticator" | "tls"> {
  const urls = urlsOf(url);
  const authenticator = authenticatorOf(urls[0], access);
  const { caFile, certFile, keyFile } = access;
  const needsTls = urls.some(({ protocol }) => protocol === "tls:");
  const tls = {
    checkServerIdentity: identityCheck(urls),
    ...(caFile === undefined ? {} : { caFile }),
    ...(certFile === undefined ? {} : { certFile }),
    ...(keyFile === undefined ? {} : { keyFile }),
  };
  return {
    servers: urls.map(({ protocol, host }) => `${protocol}//${host}`),
    ...(authenticator === undefined ? {} : { authenticator }),
    ...(needsTls || caFile !== undefined || certFile !== undefined ? { tls } : {}),
  };
}

/** Hosts and ports for messages, because the URLs may hold a password. */
export function natsHosts(url: string): string {
  return urlsOf(url)
    .map(({ hostname, port }) => `${hostname}:${port || PORT}`)
    .join(", ");
}

export function serverCount(url: string): number {
  return new Set(urlsOf(url).map(({ host }) => host)).size;
}

function urlsOf(url: string): URL[] {
  return url.split(",").map((one) => new URL(one.trim()));
}

/**
 * A certificate must be for a server that NATS_URL names, or for the name by which the cluster has announced the server. For an address
 * the client has no name, and Node.js would check the certificate for "localhost".
 */
function identityCheck(urls: readonly URL[]): typeof checkServerIdentity {
  const named = urls.map(({ hostname }) => hostname.replace(/^\[|\]$/g, ""));
  return (host, certificate) => {
    const accepted = host === UNNAMED ? named : [host, ...named];
    const faults = accepted.map((name) => checkServerIdentity(name, certificate));
    return faults.includes(undefined) ? undefined : faults[0];
  };
}

function authenticatorOf(
  first: URL | undefined,
  { user, password, credsFile, nkeyFile }: NatsAccess,
): Authenticator | undefined {
  if (credsFile !== undefined) {
    return lasting(() => credsAuthenticator(readFileSync(credsFile)));
  }
  if (nkeyFile !== undefined) {
    return lasting(() => nkeyAuthenticator(seedIn(readFileSync(nkeyFile, "utf8"))));
  }
  if (user !== undefined && password !== undefined) {
    return lasting(() => usernamePasswordAuthenticator(user, password()));
  }
  // The client does not read the user from the URL.
  if (first === undefined || first.username === "") return undefined;
  return usernamePasswordAuthenticator(
    decodeURIComponent(first.username),
    decodeURIComponent(first.password),
  );
}

/**
 * Logs in with what the file says now. A file that cannot be read at a reconnection leaves the last login in force, and the server
 * decides: the client would end the connection for ever if this threw. @throws when the first login cannot be read.
 */
function lasting(read: () => Authenticator): Authenticator {
  let last: Authenticator | undefined;
  return (nonce) => {
    try {
      const now = read();
      const login = now(nonce);
      last = now;
      return login;
    } catch (error) {
      if (last === undefined) throw error;
      return last(nonce);
    }
  };
}

/** The seed in a file, which may have comments and an armour of dashes as `nk` and `nsc` write them. */
function seedIn(text: string): Uint8Array {
  const seed = /\bSU[A-Z2-7]{56}\b/.exec(text)?.[0];
  if (seed === undefined) throw new Error("the file has no seed of a user (SU…)");
  return new TextEncoder().encode(seed);
}
