import { execFile, spawnSync } from "node:child_process";
import { createServer, type Server } from "node:net";
import { networkInterfaces } from "node:os";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { projectFile } from "../../schemas/host/project-root.ts";
import { OutgoingClient } from "../../schemas/outgoing/outgoing-client.ts";
import { type Receiver, startReceiver } from "../integration/outgoing/receiver.ts";
import { type NameServer, startNameServer } from "../system/name-server.ts";
import { reportCases } from "./report-cases.ts";

const NOT_ALLOWED = {
  kind: "failed",
  error: "destination address not allowed",
  isPermanent: true,
} as const;

/** Addresses of this machine or its network, in every spelling that might get past a check. */
// biome-ignore format: one value per line would hide them
const HOSTS = ["127.0.0.1", "127.1", "127.0.1", "127.255.255.254", "2130706433", "0x7f000001", "0x7f.1", "017700000001", "0177.0.0.1", "127.0x0.0.1", "127.000.000.001", "0", "0.0.0.0", "0x0", "localhost", "LOCALHOST", "localhost.", "a.localhost", "127.0.0.1.", "%31%32%37.0.0.1", "①②⑦.⓪.⓪.①", "127。0。0。1", "[::1]", "[::]", "[0:0:0:0:0:0:0:1]", "[::0001]", "[::127.0.0.1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::ffff:0:127.0.0.1]", "[64:ff9b::127.0.0.1]", "[64:ff9b:1::127.0.0.1]", "[2002:7f00:1::]", "[2002:a00:1::1]", "[2001:0:7f00:1::]", "[fe80::1]", "[fc00::1]", "[fd00::1]", "[fec0::1]", "[ff02::1]", "[100::1]", "[2001:db8::1]", "10.0.0.1", "10.255.255.255", "172.16.0.1", "172.31.255.255", "192.168.0.1", "100.64.0.1", "169.254.169.254", "169.254.1.1", "192.0.0.1", "192.0.2.1", "198.18.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255",
] as const;
/** Names that the test's own name server resolves to non-public addresses. */
const NAMES = {
  "loopback.example": { a: ["127.0.0.1"], aaaa: [] },
  "loopback6.example": { a: [], aaaa: ["::1"] },
  "mapped.example": { a: [], aaaa: ["::ffff:127.0.0.1"] },
  "both.example": { a: ["127.0.0.1", "10.0.0.1"], aaaa: ["::1", "fd00::1"] },
  "nat64.example": { a: [], aaaa: ["64:ff9b::7f00:1"] },
  "sixtofour.example": { a: [], aaaa: ["2002:7f00:1::1"] },
  "private.example": { a: ["192.168.1.1"], aaaa: [] },
  "metadata.example": { a: ["169.254.169.254"], aaaa: [] },
  "zero.example": { a: ["0.0.0.0"], aaaa: ["::"] },
} as const;
const REDIRECTS = [301, 302, 303, 307, 308] as const;
const HOPS = [1, 2, 3] as const;

/** A public address that is unused in a network namespace. */
const PUBLIC_ADDRESS = "198.41.0.4";
const NAMESPACE = ["--map-root-user", "--net"];
const hasNamespaces = spawnSync("unshare", [...NAMESPACE, "ip", "link"]).status === 0;

let nameServer: NameServer;
let strict: OutgoingClient;
/** May connect to loopback, which stands for a public server, so that it can be redirected. */
let onward: OutgoingClient;
let receiver: Receiver;
let sentinel: Server;
let port = 0;
let accepted = 0;
let cases = 0;

beforeAll(async () => {
  nameServer = await startNameServer(new Map(Object.entries(NAMES)));
  const nameServers = [nameServer.address];
  strict = new OutgoingClient({ allowLoopback: false, nameServers });
  onward = new OutgoingClient({ allowLoopback: true, nameServers });
  receiver = await startReceiver();
  // Listens on every address of this machine, in both families.
  sentinel = createServer((socket) => {
    accepted += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => {
    sentinel.listen(0, "::", resolve);
  });
  const address = sentinel.address();
  port = typeof address === "object" && address !== null ? address.port : 0;
});
afterAll(async () => {
  await Promise.all([strict.close(), onward.close(), receiver.close(), nameServer.close()]);
  await new Promise((resolve) => sentinel.close(resolve));
  process.stdout.write(`P25: ${cases} requests, ${accepted} connections\n`);
});

/** The URL, or undefined if the host makes it invalid. */
function urlOf(scheme: string, host: string): URL | undefined {
  const text = `${scheme}://${host}:${port}/x`;
  return URL.canParse(text) ? new URL(text) : undefined;
}

const isNotLoopback = (host: string): boolean =>
  !/^\[?(::ffff:)?(127|7f)|^\[::1\]$|localhost/.test(new URL(`http://${host}/`).hostname);

describe("no request opens a connection to a non-public address (P25)", () => {
  const own = Object.values(networkInterfaces()).flatMap((addresses) =>
    (addresses ?? [])
      .filter(({ internal, scopeid }) => !internal && (scopeid ?? 0) === 0)
      .map(({ address, family }) => (family === "IPv6" ? `[${address}]` : address)),
  );
  // A public address of this machine may be reached.
  const localAddresses = own.filter((address) =>
    /^(10|192\.168|172\.(1[6-9]|2\d|3[01]))\.|^\[f[cd]/.test(address),
  );
  const hosts = [...HOSTS, ...localAddresses, ...Object.keys(NAMES)];

  test.each(hosts)("by address or name: %s", async (host) => {
    for (const scheme of ["http", "https"]) {
      for (const method of ["GET", "POST"] as const) {
        const url = urlOf(scheme, host);
        if (url === undefined) continue;
        cases += 1;
        expect(await strict.attempt({ url, method, redirectsMax: 3 })).toEqual(NOT_ALLOWED);
      }
    }
    expect(accepted).toBe(0);
  });

  const targets = hosts.filter((host) => URL.canParse(`http://${host}/`) && isNotLoopback(host));
  const names = ["loopback.example", "loopback6.example", "mapped.example", "both.example"];
  test.each(targets.filter((host) => !names.includes(host)))(
    "by a redirect at each of three hops: %s",
    async (host) => {
      for (const [hop, status] of HOPS.flatMap((at) =>
        REDIRECTS.map((one) => [at, one] as const),
      )) {
        receiver.answer((response, { target }) => {
          const at = Number(target.slice(1));
          const location = at === hop ? `http://${host}:${port}/x` : `/${at + 1}`;
          response.writeHead(status, { location }).end();
        });
        cases += 1;
        const url = new URL(`http://127.0.0.1:${receiver.port}/1`);
        expect(await onward.attempt({ url, method: "POST", body: "x", redirectsMax: 3 })).toEqual(
          NOT_ALLOWED,
        );
      }
      expect(accepted).toBe(0);
    },
  );

  test.skipIf(!hasNamespaces)(
    "by a redirect of a public server to this machine, at each of three hops",
    async () => {
      // Hosts that fit into a header, without names, because the namespace has no name server.
      const inward = hosts.filter(
        (host) =>
          /^[\x21-\x7e]+$/.test(host) &&
          URL.canParse(`http://${host}/`) &&
          !host.endsWith(".example"),
      );
      const task = {
        publicAddress: PUBLIC_ADDRESS,
        hosts: inward,
        statuses: REDIRECTS,
        hops: HOPS,
      };
      const setUp = `ip link set lo up && ip address add ${PUBLIC_ADDRESS}/32 dev lo && exec "$0" "$@"`;
      const program = projectFile(".build", "test", "system", "redirect-inward.js");
      const { stdout } = await promisify(execFile)("unshare", [
        ...NAMESPACE,
        "sh",
        "-c",
        setUp,
        process.execPath,
        program,
        JSON.stringify(task),
      ]);
      cases += inward.length * REDIRECTS.length * HOPS.length;
      expect(JSON.parse(stdout)).toEqual({
        outcomes: { [NOT_ALLOWED.error]: inward.length * REDIRECTS.length * HOPS.length },
        inward: 0,
        control: "connection closed",
        outward: 1,
      });
    },
  );

  test("a name is resolved once per connection, which then uses the checked address", async () => {
    nameServer.names.set("rebinding.example", { a: ["10.0.0.1"], aaaa: [] });
    const url = new URL(`http://rebinding.example:${port}/`);
    const before = nameServer.queriesFor("rebinding.example");
    expect(await onward.attempt({ url, method: "GET" })).toEqual(NOT_ALLOWED);
    // One query for each address family.
    expect(nameServer.queriesFor("rebinding.example") - before).toBe(2);
    nameServer.names.set("rebinding.example", { a: ["127.0.0.1"], aaaa: [] });
    expect(await strict.attempt({ url, method: "GET" })).toEqual(NOT_ALLOWED);
    expect(accepted).toBe(0);
    // Proves that the sentinel counts: a client that may use loopback reaches it by the same name.
    await onward.attempt({ url, method: "GET" });
    expect(accepted).toBe(1);
    accepted = 0;
  });

  test("at least 500 cases were run", (context) => {
    reportCases(context, { cases, violations: 0 });
    expect(cases).toBeGreaterThanOrEqual(500);
  });
});
