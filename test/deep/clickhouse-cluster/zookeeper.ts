import { existsSync } from "node:fs";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { commandOutput, lastLinesOf } from "../../../deploy/local/command-output.ts";
import { runtimeDir } from "../../services/servers.ts";
import { ChildServer } from "../../system/child-server.ts";
import type { Host } from "../../system/host-network.ts";
import { until } from "../../system/until.ts";

const VERSION = "3.9.4";
const DEPENDENCY_PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1";
/** The last three are in ZooKeeper's own distribution. Maven does not take them for dependencies. */
const ARTIFACTS = [
  ["org.apache.zookeeper", "zookeeper", VERSION],
  ["io.dropwizard.metrics", "metrics-core", "4.1.12.1"],
  ["org.xerial.snappy", "snappy-java", "1.1.10.5"],
  ["org.slf4j", "slf4j-simple", "2.0.13"],
] as const;
const POM = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>test</groupId><artifactId>zookeeper</artifactId><version>1</version><packaging>pom</packaging>
  <dependencies>
${ARTIFACTS.map(([group, name, version]) => `    <dependency><groupId>${group}</groupId><artifactId>${name}</artifactId><version>${version}</version></dependency>`).join("\n")}
  </dependencies>
</project>
`;
const PATIENCE = { timeoutMs: 180_000, pollMs: 250 };
/** As cluster.xml has it. */
const CLIENT_PORT = 9_181;
/** Sessions end after 20 ticks: a node that is gone is noticed after 10 s. */
const TICK_MS = 500;

/** The folder with ZooKeeper and what it needs, which is downloaded once for this machine. @throws an error that says what is missing. */
export async function zookeeperFolder(): Promise<string> {
  await requireProgram(
    "java",
    ["-version"],
    "a Java runtime (apt-get install default-jre-headless)",
  );
  const folder = join(runtimeDir(), `zookeeper-${VERSION}`);
  if (existsSync(folder)) return folder;
  await requireProgram("mvn", ["-version"], "Maven (apt-get install maven)");
  const made = `${folder}.${process.pid}`;
  await mkdir(made, { recursive: true });
  await writeFile(join(made, "pom.xml"), POM);
  const { code, stdout, stderr } = await commandOutput("mvn", [
    "--batch-mode",
    "--quiet",
    "--file",
    join(made, "pom.xml"),
    `${DEPENDENCY_PLUGIN}:copy-dependencies`,
    "-DincludeScope=runtime",
    `-DoutputDirectory=${made}`,
  ]);
  if (code !== 0) {
    await rm(made, { recursive: true, force: true });
    throw new Error(
      `Maven cannot get ZooKeeper ${VERSION}, which a real ClickHouse cluster needs: ${lastLinesOf(`${stdout}\n${stderr}`, 4)}`,
    );
  }
  try {
    await rename(made, folder);
  } catch (error) {
    // Another test file has made it meanwhile.
    await rm(made, { recursive: true, force: true });
    if (!existsSync(folder)) throw error;
  }
  return folder;
}

async function requireProgram(name: string, args: readonly string[], what: string): Promise<void> {
  const fault = new Error(`a real ClickHouse cluster needs ${what}: \`${name}\` does not run here`);
  try {
    if ((await commandOutput(name, args)).code === 0) return;
  } catch (error) {
    fault.cause = error;
  }
  throw fault;
}

/** A server of ZooKeeper on a host of its own. It stands for a Keeper: the same protocol, and the same rule of the majority. */
export class Zookeeper {
  readonly host: Host;
  readonly #folder: string;
  readonly #program: string;
  #child: ChildServer | undefined;

  private constructor(parts: { host: Host; folder: string; program: string }) {
    this.host = parts.host;
    this.#folder = parts.folder;
    this.#program = parts.program;
  }

  /** Starts nothing yet. `hosts`: all hosts of the ensemble; this server runs on the host at `index`. */
  static async open(
    folder: string,
    { hosts, index, program }: { hosts: readonly Host[]; index: number; program: string },
  ): Promise<Zookeeper> {
    const host = hosts[index];
    if (host === undefined) throw new Error("no such host");
    const data = join(folder, "data");
    await mkdir(data, { recursive: true });
    await writeFile(join(data, "myid"), String(index + 1));
    const servers = hosts.map(({ address }, at) => `server.${at + 1}=${address}:2888:3888`);
    await writeFile(
      join(folder, "zoo.cfg"),
      [
        `tickTime=${TICK_MS}`,
        "initLimit=40",
        "syncLimit=10",
        `dataDir=${data}`,
        `clientPort=${CLIENT_PORT}`,
        "maxClientCnxns=0",
        "admin.enableServer=false",
        "4lw.commands.whitelist=srvr",
        ...servers,
        "",
      ].join("\n"),
    );
    return new Zookeeper({ host, folder, program });
  }

  start(): void {
    this.#child = ChildServer.spawn(
      this.host.on([
        ...["setpriv", "--pdeathsig", "KILL", "--"],
        "java",
        "-Xmx192m",
        "-XX:+UseSerialGC",
        "-XX:TieredStopAtLevel=1",
        "-Dzookeeper.admin.enableServer=false",
        // They are frozen and cut off, and never lose power: on a busy disk each change would wait a second for its fsync.
        "-Dzookeeper.forceSync=no",
        "-Dorg.slf4j.simpleLogger.defaultLogLevel=error",
        "-cp",
        join(this.#program, "*"),
        "org.apache.zookeeper.server.quorum.QuorumPeerMain",
        join(this.#folder, "zoo.cfg"),
      ]),
    );
  }

  /** Waits until it belongs to a majority. */
  async untilServing(): Promise<void> {
    await until(
      `ZooKeeper at ${this.host.address} belongs to a majority`,
      async () => {
        if (this.#child?.isRunning === false) throw new Error(this.#child.output);
        const socket = connect({ host: this.host.address, port: CLIENT_PORT });
        socket.end("srvr");
        return /^Mode: (?:leader|follower)$/m.test(await text(socket));
      },
      PATIENCE,
    );
  }

  signal(signal: "SIGSTOP" | "SIGCONT"): void {
    this.#child?.signal(signal);
  }

  async close(): Promise<void> {
    this.#child?.signal("SIGCONT");
    await this.#child?.end("SIGKILL");
  }
}
