import { createHash } from "node:crypto";
import { join } from "node:path";

export interface ClickhouseConfigOptions {
  /** Folder of the data. */
  folder: string;
  logFile: string;
  usersFile: string;
  bind: string;
  port: number;
  memoryBytesMax: number;
  logBytesMax: number;
}

/**
 * config.xml of the embedded engine. Values differ from its defaults only where the default caused warnings or needed more than a small
 * machine has.
 */
export function clickhouseConfig(options: ClickhouseConfigOptions): string {
  const { folder, logFile, usersFile, bind, port, memoryBytesMax, logBytesMax } = options;
  return `<clickhouse>
  <logger>
    <level>warning</level>
    <log>${xmlText(logFile)}</log>
    <size>${logBytesMax}</size>
    <count>2</count>
  </logger>
  <log-level>warning</log-level>
  <path>${xmlText(join(folder, "store"))}/</path>
  <tmp_path>${xmlText(join(folder, "tmp"))}/</tmp_path>
  <listen_host>${xmlText(bind)}</listen_host>
  <http_port>${port}</http_port>
  <users_config>${xmlText(usersFile)}</users_config>
  <max_server_memory_usage>${memoryBytesMax}</max_server_memory_usage>
  <mark_cache_size>268435456</mark_cache_size>
  <background_pool_size>4</background_pool_size>
  <background_schedule_pool_size>16</background_schedule_pool_size>
  <backups>
    <allowed_path>${xmlText(join(folder, "backups"))}/</allowed_path>
  </backups>
  <query_log>
    <database>system</database>
    <table>query_log</table>
    <flush_interval_milliseconds>1000</flush_interval_milliseconds>
    <engine>ENGINE = Memory SETTINGS max_rows_to_keep = 100000, min_rows_to_keep = 50000</engine>
  </query_log>
</clickhouse>
`;
}

/**
 * users.xml. The engine's own session logs in as `default`, without a password, and may only keep the engine serving. The product logs in as
 * `user`. The profile removes rights that a normal server does not grant either.
 */
export function clickhouseUsers(user: string, password: string): string {
  const hash = createHash("sha256").update(password).digest("hex");
  return `<clickhouse>
  <profiles>
    <default>
      <implicit_select>0</implicit_select>
      <allow_introspection_functions>0</allow_introspection_functions>
    </default>
  </profiles>
  <quotas><default></default></quotas>
  <users>
    <default>
      <password></password>
      <networks><ip>127.0.0.1</ip><ip>::1</ip></networks>
      <profile>default</profile>
      <quota>default</quota>
      <grants>
        <query>GRANT SYSTEM LISTEN ON *.*</query>
        <query>GRANT SELECT ON system.numbers</query>
      </grants>
    </default>
    <${user}>
      <password_sha256_hex>${hash}</password_sha256_hex>
      <networks><ip>127.0.0.1</ip><ip>::1</ip></networks>
      <profile>default</profile>
      <quota>default</quota>
      <access_management>1</access_management>
      <named_collection_control>1</named_collection_control>
    </${user}>
  </users>
</clickhouse>
`;
}

/** Two fifths of the memory, from 1 to 8 GiB. Postgres and the Node processes need the rest. */
export function clickhouseMemoryBytesMax(machineBytes: number): number {
  const gib = 1024 ** 3;
  return Math.round(Math.min(8 * gib, Math.max(gib, machineBytes * 0.4)));
}

function xmlText(text: string): string {
  return text.replace(/[&<>]/g, (char) => `&#${char.charCodeAt(0)};`);
}
