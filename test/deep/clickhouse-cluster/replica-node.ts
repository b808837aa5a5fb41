import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFile, mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { projectFile } from "../../../schemas/host/project-root.ts";
import { ChildServer } from "../../system/child-server.ts";
import type { Host } from "../../system/host-network.ts";
import type { ReplicaOrder } from "./replica-order.ts";

export const PASSWORD = "for-tests";
const HASH = createHash("sha256").update(PASSWORD).digest("hex");
const HTTP_PORT = 8_123;
const SERVERS = projectFile("deploy", "servers", "clickhouse");

/** What all nodes of a cluster share. */
export type ClusterPlan = {
  /** The text of cluster.xml. */
  readonly config: string;
  /** Its variables that all nodes have. */
  readonly environment: Readonly<Record<string, string>>;
  /** Addresses by shard. */
  readonly shards: ReplicaOrder["shards"];
};

/** A node of a cluster on a host of its own, with the configuration of deploy/servers/clickhouse. */
export class ReplicaNode {
  readonly host: Host;
  readonly shard: string;
  readonly replica: string;
  /** What it has on its disk. */
  readonly store: string;
  readonly #folder: string;
  readonly #plan: ClusterPlan;
  #child: ChildServer | undefined;

  constructor(
    folder: string,
    plan: ClusterPlan,
    place: { host: Host; shard: string; replica: string },
  ) {
    this.#folder = folder;
    this.#plan = plan;
    this.host = place.host;
    this.shard = place.shard;
    this.replica = place.replica;
    this.store = join(folder, "store");
  }

  /** `<shard>-<replica>`. */
  get home(): string {
    return `${this.shard}-${this.replica}`;
  }

  urlOf(user: string, database: string): string {
    return `http://${user}:${PASSWORD}@${this.host.address}:${HTTP_PORT}/${database}`;
  }

  /** `diskMb`: its disk is that small. */
  async prepare(diskMb?: number): Promise<void> {
    await mkdir(this.store, { recursive: true });
    if (diskMb !== undefined) mountDisk(this.store, diskMb);
    for (const name of ["config.d", "users.d"])
      await mkdir(join(this.#folder, name), { recursive: true });
    await writeFile(join(this.#folder, "config.xml"), this.#baseConfig());
    await writeFile(join(this.#folder, "config.d", "cluster.xml"), this.#plan.config);
    await writeFile(join(this.#folder, "config.d", "session.xml"), this.#sessionConfig());
    await writeFile(join(this.#folder, "users.xml"), USERS);
    await copyFile(
      join(SERVERS, "cluster-users.xml"),
      join(this.#folder, "users.d", "cluster-users.xml"),
    );
    await writeFile(join(this.#folder, "users.d", "tests.xml"), TEST_USERS);
  }

  /** Starts its process, and does not wait until it answers. */
  start(): void {
    const order: ReplicaOrder = {
      library: libraryFile(),
      configFile: join(this.#folder, "config.xml"),
      address: this.host.address,
      interserver: {
        user: "interserver",
        password: this.#plan.environment["CLICKHOUSE_INTERSERVER_PASSWORD"] ?? "",
      },
      shards: this.#plan.shards,
    };
    const program = projectFile(".build", "test", "deep", "clickhouse-cluster", "replica-main.js");
    this.#child = ChildServer.spawn(
      this.host.on([
        // With a host name of its own, which Keeper and the checks of strict see.
        ...["unshare", "--uts", "sh", "-c", 'hostname "$0" && exec "$@"', `ch-${this.home}`],
        ...[process.execPath, program, JSON.stringify(order)],
      ]),
      {
        ...this.#plan.environment,
        CLICKHOUSE_HOST: this.host.address,
        CLICKHOUSE_SHARD: this.shard,
        CLICKHOUSE_REPLICA: this.replica,
        TRACKER_MIGRATE_SHA256: HASH,
        TRACKER_WRITER_SHA256: HASH,
        TRACKER_READER_SHA256: HASH,
      },
    );
  }

  async untilAnswering(): Promise<void> {
    await this.#child?.untilAnswering(`http://${this.host.address}:${HTTP_PORT}/ping`);
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  signal(signal: "SIGSTOP" | "SIGCONT"): void {
    this.#child?.signal(signal);
  }

  async kill(): Promise<void> {
    this.#child?.signal("SIGCONT");
    await this.#child?.end("SIGKILL");
  }

  /** Removes all that it has on its disk. It must not run. */
  async empty(): Promise<void> {
    // The folder itself may be a disk.
    for (const name of await readdir(this.store))
      await rm(join(this.store, name), { recursive: true, force: true });
  }

  async close(): Promise<void> {
    await this.kill();
    spawnSync("umount", ["--quiet", this.store]);
  }

  /** Replaces the server's own config.xml. The second listener is for replicas (library-patches.ts). */
  #baseConfig(): string {
    return `<clickhouse>
  <logger>
    <level>information</level>
    <log>${join(this.#folder, "server.log")}</log>
    <size>50M</size>
    <count>2</count>
  </logger>
  <log-level>information</log-level>
  <path>${this.store}/</path>
  <tmp_path>${join(this.store, "tmp")}/</tmp_path>
  <listen_host>127.0.0.1</listen_host>
  <listen_host>${this.host.address}</listen_host>
  <http_port>9009</http_port>
  <users_config>${join(this.#folder, "users.xml")}</users_config>
  <max_server_memory_usage>1500000000</max_server_memory_usage>
  <mark_cache_size>67108864</mark_cache_size>
  <background_pool_size>4</background_pool_size>
  <background_schedule_pool_size>16</background_schedule_pool_size>
  <background_fetches_pool_size>4</background_fetches_pool_size>
  <query_log>
    <database>system</database>
    <table>query_log</table>
    <engine>ENGINE = Memory SETTINGS max_rows_to_keep = 20000, min_rows_to_keep = 10000</engine>
  </query_log>
  <access_control_improvements>
    <select_from_system_db_requires_grant>true</select_from_system_db_requires_grant>
  </access_control_improvements>
</clickhouse>
`;
  }

  /** By the number of a server Keeper tells its sessions from others. The engine has no such number. */
  #sessionConfig(): string {
    return `<clickhouse><zookeeper><sessions_path>/clickhouse/sessions/${this.home}</sessions_path></zookeeper></clickhouse>\n`;
  }
}

/** The part of the server's own users.xml that cluster-users.xml changes. */
const USERS = `<clickhouse>
  <profiles><default/></profiles>
  <users>
    <default>
      <password></password>
      <networks><ip>::/0</ip></networks>
      <profile>default</profile>
      <quota>default</quota>
    </default>
  </users>
  <quotas><default/></quotas>
</clickhouse>
`;

/** An administrator. Hedged requests break connections off, which ends the embedded engine. */
const TEST_USERS = `<clickhouse>
  <profiles><default><use_hedged_requests>0</use_hedged_requests></default></profiles>
  <users>
    <admin>
      <password_sha256_hex>${HASH}</password_sha256_hex>
      <networks><ip>::/0</ip></networks>
      <profile>default</profile>
      <quota>default</quota>
    </admin>
  </users>
</clickhouse>
`;

function libraryFile(): string {
  const { resolve } = createRequire(projectFile("package.json"));
  return join(dirname(resolve("@chdb/lib-linux-x64-gnu")), "libchdb.so");
}

function mountDisk(folder: string, sizeMb: number): void {
  const args = ["-t", "tmpfs", "-o", `size=${sizeMb}m`, "tmpfs", folder];
  const { status, stderr } = spawnSync("mount", args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`mount ${args.join(" ")}: ${stderr}`);
}
