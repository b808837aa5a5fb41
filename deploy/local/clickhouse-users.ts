import { createHash } from "node:crypto";

export interface ClickhouseLogin {
  user: string;
  password: string;
}

export interface ClickhouseUsersOptions {
  /** Writes, migrates, backs up: the login of the processors and of commands. */
  owner: ClickhouseLogin;
  /** Reads with less memory and time: the login for reports. */
  reader: ClickhouseLogin;
  /** For the whole engine. */
  memoryBytesMax: number;
}

type Limits = {
  readonly memoryOfStatement: number;
  readonly memoryOfUser: number;
  /** For a statement that names no limit itself. */
  readonly seconds: number;
  readonly secondsMax: number;
};

/** The engine's own session runs one statement that reads nothing. */
const ENGINE_BYTES_MAX = 100_000_000;
/** `tracker backup` and `tracker restore` ask for half a day; everything else states a limit or takes seconds. */
const OWNER_SECONDS = 15 * 60;
export const OWNER_SECONDS_MAX = 12 * 3_600;
/** The same as for `tracker_reader` in deploy/servers/clickhouse/users.xml. */
const READER_SECONDS = 60;

/**
 * Everything in the databases of the service. Not named, and therefore refused: sources (files, URLs, other servers), table engines that read
 * them, dictionaries, functions, named collections, users, and statements about the engine itself, such as SYSTEM STOP LISTEN.
 */
const OWNER_GRANTS = [
  `GRANT SHOW, SELECT, INSERT, ALTER, CREATE DATABASE, CREATE TABLE, CREATE VIEW, DROP DATABASE, DROP TABLE, DROP VIEW,
    TRUNCATE, OPTIMIZE, CHECK, BACKUP ON *.*`,
  "GRANT KILL QUERY, SYSTEM FLUSH LOGS ON *.*",
  "GRANT TABLE ENGINE ON MergeTree",
  "GRANT TABLE ENGINE ON ReplacingMergeTree",
  // In this database the engine takes the name of a table for the path of a file.
  "REVOKE ALL ON default.*",
];

/**
 * Settings by which a statement that needs no right of its own reads or writes a file, asks another host, or lets web pages read the answer.
 * They stay as they are.
 */
const FIXED_SETTINGS = [
  "add_http_cors_header",
  "format_schema",
  "output_format_schema",
  "format_template_row",
  "format_template_resultset",
  "format_avro_schema_registry_url",
  "input_format_record_errors_file_path",
  "rename_files_after_processing",
  "allow_experimental_ai_functions",
  "allow_experimental_eval_table_function",
  "merge_tree_disk",
  "merge_tree_storage_policy",
];

/**
 * users.xml. The engine's own session logs in as `default`, without a password, before anything listens. That user may have one session, so
 * nobody else gets in as long as the engine runs.
 */
export function clickhouseUsers(options: ClickhouseUsersOptions): string {
  const { owner, reader, memoryBytesMax } = options;
  const share = (part: number): number => Math.round(memoryBytesMax * part);
  return `<clickhouse>
  <profiles>
    <default>
      <implicit_select>0</implicit_select>
      <allow_introspection_functions>0</allow_introspection_functions>
    </default>
    <engine>
      <max_sessions_for_user>1</max_sessions_for_user>
      <max_memory_usage>${ENGINE_BYTES_MAX}</max_memory_usage>
      <constraints>
        <max_sessions_for_user><const/></max_sessions_for_user>
        <max_memory_usage><const/></max_memory_usage>
      </constraints>
    </engine>
${profile(owner.user, {
  memoryOfStatement: share(0.8),
  memoryOfUser: share(0.95),
  seconds: OWNER_SECONDS,
  secondsMax: OWNER_SECONDS_MAX,
})}
${profile(reader.user, {
  memoryOfStatement: share(0.6),
  memoryOfUser: share(0.8),
  seconds: READER_SECONDS,
  secondsMax: READER_SECONDS,
})}
  </profiles>
  <quotas><default></default></quotas>
  <users>
    <default>
      <password></password>
      <networks><ip>127.0.0.1</ip></networks>
      <profile>engine</profile>
      <quota>default</quota>
      <grants>
        <query>GRANT SYSTEM LISTEN ON *.*</query>
        <query>GRANT SELECT ON system.numbers</query>
      </grants>
    </default>
${login(owner, OWNER_GRANTS)}
${login(reader, ["GRANT SELECT ON tracker.*"])}
  </users>
</clickhouse>
`;
}

function profile(name: string, limits: Limits): string {
  const { memoryOfStatement, memoryOfUser, seconds, secondsMax } = limits;
  return `    <${name}>
      <profile>default</profile>
      <max_memory_usage>${memoryOfStatement}</max_memory_usage>
      <max_memory_usage_for_user>${memoryOfUser}</max_memory_usage_for_user>
      <max_execution_time>${seconds}</max_execution_time>
      <constraints>
        <max_memory_usage><min>1</min><max>${memoryOfStatement}</max></max_memory_usage>
        <max_memory_usage_for_user><const/></max_memory_usage_for_user>
        <max_execution_time><min>0.001</min><max>${secondsMax}</max></max_execution_time>
${FIXED_SETTINGS.map((setting) => `        <${setting}><const/></${setting}>`).join("\n")}
      </constraints>
    </${name}>`;
}

function login({ user, password }: ClickhouseLogin, grants: readonly string[]): string {
  const hash = createHash("sha256").update(password).digest("hex");
  return `    <${user}>
      <password_sha256_hex>${hash}</password_sha256_hex>
      <networks><ip>127.0.0.1</ip><ip>::1</ip></networks>
      <profile>${user}</profile>
      <quota>default</quota>
      <grants>
${grants.map((grant) => `        <query>${grant}</query>`).join("\n")}
      </grants>
    </${user}>`;
}
