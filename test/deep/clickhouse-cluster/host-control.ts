import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { RealCluster } from "./real-cluster.ts";
import type { ReplicaNode } from "./replica-node.ts";

/** In the place of `ssh HOST COMMAND`: deploy/checks/clickhouse-cluster.sh asks this server to hurt and to cure a node. */
export class HostControl {
  readonly #server: Server;
  readonly #cluster: RealCluster;

  private constructor(cluster: RealCluster) {
    this.#cluster = cluster;
    this.#server = createServer((asked, answer) => {
      void text(asked)
        .then(async (command) => await this.#run(asked.url?.slice(1) ?? "", command))
        .then(
          () => answer.end(),
          (error: unknown) => answer.writeHead(500).end(String(error)),
        );
    });
  }

  static async open(cluster: RealCluster): Promise<HostControl> {
    const control = new HostControl(cluster);
    control.#server.listen(0, "127.0.0.1");
    await once(control.#server, "listening");
    return control;
  }

  /** Settings of the script. */
  get environment(): Record<string, string> {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it listens on a port
    const { port } = this.#server.address() as AddressInfo;
    return {
      ON_HOST: `curl --silent --show-error --fail http://127.0.0.1:${port}/{} --data-binary`,
      KILL: "kill",
      START: "start",
      FREEZE: "freeze",
      THAW: "thaw",
      CUT: "cut",
      HEAL: "heal",
    };
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  async #run(address: string, command: string): Promise<void> {
    const node = this.#cluster.nodes.find(({ host }) => host.address === address);
    const action = this.#actions.get(command);
    if (node === undefined || action === undefined)
      throw new Error(`cannot ${command} the host ${address}`);
    await action(node);
  }

  readonly #actions: ReadonlyMap<string, (node: ReplicaNode) => Promise<void> | void> = new Map([
    ["kill", async (node: ReplicaNode) => await node.kill()],
    // As `systemctl start`, it does not wait until the server answers.
    ["start", (node: ReplicaNode) => node.start()],
    ["freeze", (node: ReplicaNode) => node.signal("SIGSTOP")],
    ["thaw", (node: ReplicaNode) => node.signal("SIGCONT")],
    ["cut", async (node: ReplicaNode) => await this.#cluster.cutFromKeepers(node)],
    ["heal", async (node: ReplicaNode) => await this.#cluster.joinWithKeepers(node)],
  ]);
}
