import { join } from "node:path";

export interface ClickhouseConfigOptions {
  /** Folder of the data. */
  folder: string;
  logFile: string;
  usersFile: string;
  bind: string;
  port: number;
  /** How many logins over HTTP there are: {@link authorizationVariable} has the header of each. */
  logins: number;
  memoryBytesMax: number;
  logBytesMax: number;
}

/**
 * The variable with the header `Authorization` of a login, from 0 on. The engine process sets it for the engine in it, so no file has it.
 */
export function authorizationVariable(login: number): string {
  return `TRACKER_CLICKHOUSE_AUTHORIZATION_${login}`;
}

/** The header by which a login asks over HTTP. */
export function authorizationOf(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;
}

/**
 * config.xml of the embedded engine. Values differ from its defaults only where the default caused warnings, needed more than a small
 * machine has, or answered without a password: the only handler of HTTP is for statements, and only a request with the header of a login
 * reaches it. Everything else is 404, also `/ping` and the engine's own pages.
 */
export function clickhouseConfig(options: ClickhouseConfigOptions): string {
  const { folder, logFile, usersFile, bind, port, logins, memoryBytesMax, logBytesMax } = options;
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
  <http_handlers>
${Array.from({ length: logins }, (_, login) => httpRule(login)).join("\n")}
  </http_handlers>
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

function httpRule(login: number): string {
  return `    <rule_${login}>
      <url>/</url>
      <methods>GET,POST</methods>
      <headers><Authorization from_env="${authorizationVariable(login)}"/></headers>
      <handler>
        <type>dynamic_query_handler</type>
        <query_param_name>query</query_param_name>
      </handler>
    </rule_${login}>`;
}

/** Two fifths of the memory, from 1 to 8 GiB. Postgres and the Node processes need the rest. */
export function clickhouseMemoryBytesMax(machineBytes: number): number {
  const gib = 1024 ** 3;
  return Math.round(Math.min(8 * gib, Math.max(gib, machineBytes * 0.4)));
}

function xmlText(text: string): string {
  return text.replace(/[&<>]/g, (char) => `&#${char.charCodeAt(0)};`);
}
