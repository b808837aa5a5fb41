import { randomBytes } from "node:crypto";
import { copyFile, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startClickhouse } from "../../deploy/local/embedded-clickhouse.ts";
import type { EmbeddedServer } from "../../deploy/local/embedded-server.ts";
import { pickPort } from "../../deploy/local/ports.ts";
import { openClickhouse } from "../../schemas/clickhouse/connect.ts";
import { copyMigratedData } from "./migrated-data.ts";
import { runtimeDir, testReport } from "./servers.ts";

/** Two hosts, as far as the engines can tell. They have the same HTTP port, as servers do. */
const HOSTS = ["127.0.0.1", "127.0.0.2"] as const;
export const CLUSTER = "tracker";
/** The same engines as replicas of one shard. */
export const TWO_REPLICAS = "two_replicas";
/** The same with a replica between them that is away: nobody listens on its port. */
export const THREE_REPLICAS = "three_replicas";
const AWAY_HOST = "127.0.0.3";

/**
 * Two embedded engines that know each other as the shards of one cluster, and as replicas of one shard in two further clusters. They answer
 * each other's queries as servers do. They have no Keeper, so tables are not replicated and statements `on cluster` are refused.
 */
export class EnginePair implements AsyncDisposable {
  readonly engines: readonly [EmbeddedServer, EmbeddedServer];
  readonly #folder: string;

  private constructor(engines: readonly [EmbeddedServer, EmbeddedServer], folder: string) {
    this.engines = engines;
    this.#folder = folder;
  }

  /**
   * `usersFile` is a file of users.d for both, `environment` has the variables that it reads. `isMigrated`: each has the database `tracker` of this
   * release, to be copied.
   */
  static async start({
    usersFile,
    environment = {},
    isMigrated = false,
  }: {
    readonly usersFile?: string;
    readonly environment?: Readonly<Record<string, string>>;
    readonly isMigrated?: boolean;
  } = {}): Promise<EnginePair> {
    const folder = await mkdtemp(join(tmpdir(), "tracker-engines-"));
    // A node takes an address for its own if it is an address of its host with its port: the native ports must differ.
    const tcpPorts = [await pickPort(HOSTS[0]), await pickPort(HOSTS[1])] as const;
    const both = {
      port: await pickPort(HOSTS[0]),
      tcpPorts,
      awayPort: await pickPort(AWAY_HOST),
      usersFile,
      environment,
      isMigrated,
      password: randomBytes(12).toString("hex"),
    };
    const engines = [
      await startEngine(folder, { ...both, index: 0 }),
      await startEngine(folder, { ...both, index: 1 }),
    ] as const;
    return new EnginePair(engines, folder);
  }

  /** CLICKHOUSE_URL: both engines as seeds. */
  urlOf(database: string): string {
    return this.engines.map(({ url }) => withDatabase(url, database)).join(",");
  }

  async createDatabase(database: string): Promise<void> {
    for (const { url } of this.engines) await run(url, `create database ${database}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.engines.map((engine) => engine.stop()));
    await rm(this.#folder, { recursive: true, force: true });
  }
}

/** The same server with another database. */
export function withDatabase(url: string, database: string): string {
  const other = new URL(url);
  other.pathname = `/${database}`;
  return other.toString();
}

/**
 * Hedged requests break off the connection to a replica that is slower than another. A server logs that; the embedded engine ends with an
 * exception that nothing catches. Our user may do all that a node of a cluster does.
 */
const SETTINGS = `<clickhouse>
  <profiles><default><use_hedged_requests>0</use_hedged_requests></default></profiles>
  <users><tracker><grants replace="replace"><query>GRANT ALL ON *.*</query></grants></tracker></users>
</clickhouse>
`;

type Place = {
  readonly index: 0 | 1;
  readonly port: number;
  /** The password of our user, the same on both engines. */
  readonly password: string;
  readonly tcpPorts: readonly [number, number];
  readonly awayPort: number;
  readonly usersFile: string | undefined;
  readonly environment: Readonly<Record<string, string>>;
  readonly isMigrated: boolean;
};

async function startEngine(folder: string, place: Place): Promise<EmbeddedServer> {
  const { index, port, password } = place;
  const dataDir = join(folder, `engine${index}`);
  await mkdir(dataDir);
  if (place.isMigrated)
    await copyMigratedData(dataDir, ["clickhouse"], {
      runtimeDir: runtimeDir(),
      report: testReport(),
    });
  const configs = join(dataDir, "clickhouse", "config.d");
  await mkdir(configs, { recursive: true });
  await writeFile(join(configs, "cluster.xml"), clusterConfig(place));
  const users = join(dataDir, "clickhouse", "users.d");
  await mkdir(users);
  await writeFile(join(users, "settings.xml"), SETTINGS);
  if (place.usersFile !== undefined) await copyFile(place.usersFile, join(users, "more.xml"));
  await writeFile(join(dataDir, "clickhouse.password"), password, { mode: 0o600 });
  const engine = await startClickhouse({
    dataDir,
    runtimeDir: runtimeDir(),
    port,
    bind: HOSTS[index],
    report: testReport(),
    environment: place.environment,
    clusterPorts: [...place.tcpPorts, place.awayPort],
  });
  await run(engine.url, "system start listen tcp");
  return engine;
}

/** As deploy/servers/clickhouse/cluster.xml, with one replica a shard and without Keeper. */
function clusterConfig({ index, tcpPorts, awayPort }: Place): string {
  const engines = HOSTS.map((host, at) => replica(host, tcpPorts[at] ?? 0));
  const clusters: readonly (readonly [name: string, shards: readonly string[]])[] = [
    [CLUSTER, engines],
    [TWO_REPLICAS, [engines.join("")]],
    [THREE_REPLICAS, [engines.join(replica(AWAY_HOST, awayPort))]],
  ];
  return `<clickhouse>
  <!-- As on a server, every user may log in over HTTP. -->
  <http_handlers remove="remove"/>
  <tcp_port>${tcpPorts[index]}</tcp_port>
  <!-- As in the server's own config.xml. -->
  <access_control_improvements>
    <select_from_system_db_requires_grant>true</select_from_system_db_requires_grant>
  </access_control_improvements>
  <macros><shard>${index + 1}</shard><replica>a</replica></macros>
  <remote_servers>
    ${clusters.map(([name, shards]) => `<${name}><secret>for tests</secret>${shards.map(shard).join("")}</${name}>`).join("\n    ")}
  </remote_servers>
</clickhouse>
`;
}

function shard(replicas: string): string {
  return `<shard><internal_replication>true</internal_replication>${replicas}</shard>`;
}

function replica(host: string, port: number): string {
  return `<replica><host>${host}</host><port>${port}</port></replica>`;
}

async function run(url: string, query: string): Promise<void> {
  const client = openClickhouse({ url, applicationName: "test" });
  try {
    await client.command({ query });
  } finally {
    await client.close();
  }
}
