import { createServer as createHttpServer } from "node:http";
import { createServer, type Server } from "node:net";
import { z } from "zod";
import { OutgoingClient } from "../../schemas/outgoing/outgoing-client.ts";

/**
 * A program for a network namespace in which this machine has a public address. A server there redirects a client, which may
 * connect to public addresses only, to each of the hosts at each of the hops. Prints the outcomes as JSON.
 */
const Task = z.object({
  publicAddress: z.string(),
  hosts: z.array(z.string()),
  statuses: z.array(z.int()),
  hops: z.array(z.int()),
});

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => {
    server.listen(0, "::", resolve);
  });
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

async function main({ publicAddress, hosts, statuses, hops }: z.infer<typeof Task>): Promise<void> {
  let accepted = 0;
  const sentinel = createServer((socket) => {
    accepted += 1;
    socket.destroy();
  });
  const sentinelPort = await listen(sentinel);
  let status = 302;
  let hop = 1;
  let target = "";
  const server = createHttpServer((request, response) => {
    const at = Number(request.url?.slice(1));
    response.writeHead(status, { location: at === hop ? target : `/${at + 1}` }).end();
  });
  const url = new URL(`http://${publicAddress}:${await listen(server)}/1`);
  const client = new OutgoingClient({ allowLoopback: false });
  const attempt = async (host: string): Promise<string> => {
    target = `http://${host}:${sentinelPort}/x`;
    const result = await client.attempt({ url, method: "GET", redirectsMax: 3 });
    return result.kind === "failed" ? result.error : `HTTP ${result.status}`;
  };
  const outcomes: Record<string, number> = {};
  for (const host of hosts) {
    for (status of statuses) {
      for (hop of hops) {
        const outcome = await attempt(host);
        outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
      }
    }
  }
  const inward = accepted;
  // Proves that the sentinel counts: a redirect to a public address reaches it.
  const control = await attempt(publicAddress);
  process.stdout.write(JSON.stringify({ outcomes, inward, control, outward: accepted - inward }));
  await client.close();
  server.closeAllConnections();
  server.close();
  sentinel.close();
}

await main(Task.parse(JSON.parse(process.argv[2] ?? "")));
