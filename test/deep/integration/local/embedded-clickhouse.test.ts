import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  type ClickhouseOptions,
  type EmbeddedClickhouse,
  startClickhouse,
} from "../../../../deploy/local/embedded-clickhouse.ts";
import { pickPort } from "../../../../deploy/local/ports.ts";
import { runtimeDir, testReport } from "../../../services/servers.ts";

const BIND = "127.0.0.1";
/** Statements that only the system can refuse. */
const OF_SYSTEM = /^select file\(| infile |as select file\(/;
const SECRET = "a secret of the launcher";

let dataDir = "";
let options: ClickhouseOptions;
let server: EmbeddedClickhouse;
/** Why the system confines the engine only in part; none on Linux 6.7 and newer. */
const unconfined: string[] = [];

/** Another server of this machine. It counts who asks it. */
let asked = 0;
const other = createServer((_, response) => {
  asked += 1;
  response.writeHead(404).end();
});
other.on("connection", () => {
  asked += 1;
});
let otherUrl = "";

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "tracker-test-clickhouse-"));
  await writeFile(join(dataDir, "demo.json"), SECRET, { mode: 0o600 });
  const report = testReport();
  options = {
    dataDir,
    runtimeDir: runtimeDir(),
    bind: BIND,
    port: await pickPort(BIND),
    report: {
      ...report,
      note: (part, text) => {
        if (text.includes("security.md")) unconfined.push(text);
        report.note(part, text);
      },
    },
  };
  process.env["SECRET_OF_THE_LAUNCHER"] = SECRET;
  server = await startClickhouse(options);
  await new Promise<void>((resolve) => other.listen(0, BIND, resolve));
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it listens on TCP
  otherUrl = `http://${BIND}:${(other.address() as AddressInfo).port}`;
});

afterAll(async () => {
  Reflect.deleteProperty(process.env, "SECRET_OF_THE_LAUNCHER");
  other.closeAllConnections();
  await new Promise((resolve) => other.close(resolve));
  await server.stop();
  await rm(dataDir, { recursive: true });
});

type Asked = { readonly status: number; readonly text: string; readonly headers: Headers };

/** `path` may have a query. */
async function ask(path: string, init: RequestInit = {}): Promise<Asked> {
  const answer = await fetch(`http://${BIND}:${options.port}${path}`, init);
  return { status: answer.status, text: await answer.text(), headers: answer.headers };
}

async function run(url: string, query: string, path = "/"): Promise<Asked> {
  const { username, password } = new URL(url);
  const login = Buffer.from(`${username}:${password}`).toString("base64");
  return ask(path, { method: "POST", body: query, headers: { authorization: `Basic ${login}` } });
}

const logins = (): string[] => [server.url, server.readerUrl];

test("clickhouse answers nothing without a password, on any path and as any user", async () => {
  const { password } = new URL(server.url);
  const ways: [string, RequestInit?][] = [
    ["/", { method: "POST", body: "select 1" }],
    ["/?query=select%201"],
    ["/?user=default&password=&query=select%201"],
    // Only the header of a login counts, so no link and no form of a page can carry one.
    [`/?user=tracker&password=${password}&query=select%201`],
    ["/", { method: "POST", body: "select 1", headers: { "x-clickhouse-user": "default" } }],
    ["/", { method: "POST", body: "select 1", headers: { authorization: "Basic ZGVmYXVsdDo=" } }],
    ["/", { method: "POST", body: "select 1", headers: { authorization: "Basic dHJhY2tlcjo=" } }],
    ...["/ping", "/play", "/dashboard", "/replicas_status", "/binary", "/merges", "/jemalloc"].map(
      (path): [string] => [path],
    ),
    ["/metrics"],
    ["/webterminal"],
    ["/js/uplot.js"],
  ];
  for (const [path, init] of ways) expect((await ask(path, init)).status, path).toBe(404);
  for (const url of logins()) expect((await run(url, "select 1")).text).toBe("1\n");
});

test("a page of another origin gets no permission to read an answer of clickhouse", async () => {
  const page = { origin: "http://evil.example", "access-control-request-method": "POST" };
  for (const method of ["OPTIONS", "GET"]) {
    const { status, headers } = await ask("/?add_http_cors_header=1", { method, headers: page });
    expect([status >= 400, headers.get("access-control-allow-origin")]).toEqual([true, null]);
  }
  for (const url of logins()) {
    const { headers, text } = await run(url, "select 1", "/?add_http_cors_header=1");
    expect(headers.get("access-control-allow-origin")).toBeNull();
    expect(text).toContain("SETTING_CONSTRAINT_VIOLATION");
  }
});

test("nobody gets a session of the engine's own user, which has no password", async () => {
  for (const query of ["select 1", "system stop listen http", "select file('demo.json')"])
    expect((await run(server.url, query, "/?user=default")).text).toContain(
      "USER_SESSION_LIMIT_EXCEEDED",
    );
});

test("no statement of clickhouse reads a file outside of its folder", async () => {
  const file = join(dataDir, "demo.json");
  const create = "create table tracker.t (a String) engine";
  await run(server.url, "create table tracker.word (a String) engine = MergeTree order by a");
  const statements = [
    `select file('${file}')`,
    `select * from file('${file}', 'LineAsString')`,
    `select * from url('file://${file}', 'LineAsString')`,
    `select * from \`${file}\``,
    `select * from default.\`${file}\``,
    `insert into tracker.word from infile '${file}' format LineAsString`,
    `${create} = File(LineAsString, '${file}')`,
    `${create} = MergeTree order by a settings disk = disk(type = local, path = '${dataDir}/')`,
    `attach table tracker.t from '${dataDir}' (a String) engine = MergeTree order by a`,
    `create database files engine = Filesystem('${dataDir}')`,
    `create dictionary tracker.d (a String) primary key a source(file(path '${file}' format 'TSV')) layout(hashed()) lifetime(0)`,
    `select * from filesystem('${dataDir}')`,
    `select * from executable('cat ${file}', 'LineAsString', 'a String')`,
    `restore database tracker as copy from File('${dataDir}')`,
    `select 1 as a format Template settings format_template_row = '${file}'`,
    `select 1 as a format Protobuf settings format_schema = '${file}:X'`,
    `create view tracker.v as select file('${file}')`,
  ];
  for (const url of logins()) {
    const allowed: string[] = [];
    for (const query of statements) {
      const { status, text } = await run(url, query);
      if (status < 400 || text.includes(SECRET)) allowed.push(query);
    }
    // The engine itself refuses no scalar `file()` and no INFILE. Linux does, from 5.19 on.
    expect(allowed.filter((query) => unconfined.length === 0 || !OF_SYSTEM.test(query))).toEqual(
      [],
    );
    // The engine's environment is no secret, because it has nothing of the launcher's.
    const { text } = await run(url, "select file('/proc/self/environ')");
    expect(text).not.toContain(SECRET);
  }
  expect((await run(server.url, "select count() from tracker.word")).text).toBe("0\n");
});

test("no statement of clickhouse writes a file outside of its folder", async () => {
  const made = join(dataDir, "made");
  for (const query of [
    `select 1 into outfile '${made}' format TSV`,
    `insert into function file('${made}', 'TSV', 'a String') select 'x'`,
    `select 1 as a format Protobuf settings output_format_schema = '${made}'`,
    `backup database tracker to File('${made}')`,
    `backup database tracker to File('../../made')`,
    `create table tracker.t (a String) engine = MergeTree order by a
       settings disk = disk(type = object_storage, object_storage_type = local, metadata_type = plain, path = '${made}/')`,
  ])
    expect((await run(server.url, query)).status, query).toBeGreaterThanOrEqual(400);
  await expect(readFile(made)).rejects.toThrow("ENOENT");
});

test("no statement of clickhouse reaches another server", async () => {
  const at = otherUrl.replace("http://", "");
  const once = "/?s3_retry_attempts=0&backup_restore_s3_retry_attempts=0";
  const create = "create table tracker.t (a String) engine";
  const keys = `access_key_id = 'a', secret_access_key = 'b'`;
  asked = 0;
  for (const query of [
    `select * from url('${otherUrl}/x', 'LineAsString')`,
    `select * from s3('${otherUrl}/bucket/x', 'a', 'b', 'CSV')`,
    `select * from remote('${at}', system.one)`,
    `select * from mysql('${at}', 'a', 'b', 'c', 'd')`,
    `select * from postgresql('${at}', 'a', 'b', 'c', 'd')`,
    `select * from mongodb('${at}', 'a', 'b', 'c', 'd', 'a String')`,
    `select * from redis('${at}', 'a', 'a String')`,
    `select * from iceberg('${otherUrl}/bucket/x')`,
    `select * from format(AvroConfluent, 'a String', unhex('0000000001')) settings format_avro_schema_registry_url = '${otherUrl}'`,
    `${create} = URL('${otherUrl}', 'CSV')`,
    `${create} = Distributed('default', system, one)`,
    `${create} = MergeTree order by a settings disk = disk(type = web, endpoint = '${otherUrl}/x/')`,
    `${create} = MergeTree order by a settings disk = disk(type = s3, endpoint = '${otherUrl}/bucket/x/', ${keys})`,
    `create database tables engine = PostgreSQL('${at}', 'a', 'b', 'c')`,
    `create dictionary tracker.d (a String) primary key a source(http(url '${otherUrl}' format 'TSV')) layout(hashed()) lifetime(0)`,
    `create named collection c as url = '${otherUrl}'`,
    `backup database tracker to S3('${otherUrl}/bucket/x', 'a', 'b')`,
    `restore database tracker as copy from S3('${otherUrl}/bucket/x', 'a', 'b')`,
  ])
    expect((await run(server.url, query, once)).status, query).toBeGreaterThanOrEqual(400);
  // The engine itself lets backups ask S3. Linux does not, from 6.7 on.
  expect(unconfined.length === 0 ? asked : 0).toBe(0);
});

test("a user of clickhouse makes no users, rights or functions, and does not stop the engine", async () => {
  for (const query of [
    "create user mine",
    "grant all on *.* to tracker",
    "create function mine as x -> x",
    "create settings profile mine",
    "system stop listen http",
    "system start listen tcp",
    "system shutdown",
    "system kill",
  ]) {
    for (const url of logins()) expect((await run(url, query)).text, query).toContain("497");
  }
});

test("a user of clickhouse has limits of memory and time, and raises none of them", async () => {
  const limits = "select getSetting('max_memory_usage') > 0, getSetting('max_execution_time')";
  expect((await run(server.url, limits)).text).toBe("1\t900\n");
  expect((await run(server.readerUrl, limits)).text).toBe("1\t60\n");
  for (const url of logins()) {
    for (const setting of [
      "max_memory_usage = 0",
      "max_memory_usage = 99999999999999",
      "max_memory_usage_for_user = 0",
      "max_execution_time = 0",
      "max_execution_time = 43201",
    ])
      expect((await run(url, `select 1 settings ${setting}`)).text, setting).toContain(
        "SETTING_CONSTRAINT_VIOLATION",
      );
  }
  const long = await run(server.url, "select sleep(3) settings max_execution_time = 0.2");
  expect(long.text).toContain("TIMEOUT_EXCEEDED");
  const large = "select groupArray(number) from numbers(100000000) settings max_memory_usage = 1e7";
  expect((await run(server.url, large)).text).toContain("MEMORY_LIMIT_EXCEEDED");
});

test("the user for reports reads the service's tables and changes none", async () => {
  await run(server.url, "create table tracker.rows (a String) engine = MergeTree order by a");
  expect((await run(server.readerUrl, "select count() from tracker.rows")).text).toBe("0\n");
  for (const query of [
    "insert into tracker.rows values ('x')",
    "drop table tracker.rows",
    "create table tracker.t (a String) engine = MergeTree order by a",
    "backup database tracker to File('mine')",
    "select query from system.query_log",
  ])
    expect((await run(server.readerUrl, query)).text, query).toContain("497");
});

test("an engine that no longer listens ends within seconds, so that the launcher restarts it", async () => {
  const folder = await mkdtemp(join(tmpdir(), "tracker-test-deaf-"));
  const users = join(folder, "clickhouse", "users.d");
  await mkdir(users, { recursive: true });
  const right = `<grants replace="replace"><query>GRANT SYSTEM LISTEN, CREATE DATABASE, SELECT, KILL QUERY ON *.*</query></grants>`;
  await writeFile(
    join(users, "listen.xml"),
    `<clickhouse><users><tracker>${right}</tracker></users></clickhouse>`,
  );
  const warnings: string[] = [];
  const deaf = await startClickhouse({
    ...options,
    port: await pickPort(BIND),
    dataDir: folder,
    report: { note: () => undefined, warn: (_, text) => warnings.push(text) },
  });
  try {
    const url = new URL("/", deaf.url);
    const { username, password, origin } = url;
    const login = Buffer.from(`${username}:${password}`).toString("base64");
    const request = { method: "POST", headers: { authorization: `Basic ${login}` } };
    // The answer may be cut off with the listener.
    await fetch(origin, { ...request, body: "system stop listen http" }).catch(() => undefined);
    const beganMs = Date.now();
    expect(await deaf.exited).toEqual({ code: null, signal: "SIGKILL" });
    expect(Date.now() - beganMs).toBeLessThan(10_000);
    expect(warnings).toEqual(["nothing listens on the port any more, so it is killed"]);
  } finally {
    await deaf.stop();
    await rm(folder, { recursive: true });
  }
});
