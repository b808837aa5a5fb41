import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readSettings } from "./read-settings.ts";

const SERVERS = {
  POSTGRES_URL: "postgres://tracker@127.0.0.1/tracker",
  NATS_URL: "nats://127.0.0.1",
  CLICKHOUSE_URL: "https://127.0.0.1:8443/tracker",
};

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "tracker-settings-"));
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

test("a secret may stand in a file, with or without a newline at its end", () => {
  for (const end of ["", "\n", "\r\n"]) {
    const file = written("url", `postgres://me:p@a/b${end}`);
    const { POSTGRES_URL, ...others } = SERVERS;
    expect(POSTGRES_URL).not.toBe("");
    const read = readSettings("api", { ...others, POSTGRES_URL_FILE: file });
    expect(read.POSTGRES_URL).toBe("postgres://me:p@a/b");
  }
});

test("a password in a file is read again each time", () => {
  const file = written("password", "first\n");
  const { POSTGRES_PASSWORD } = readSettings("api", { ...SERVERS, POSTGRES_PASSWORD_FILE: file });
  expect(POSTGRES_PASSWORD?.()).toBe("first");
  written("password", "second\n");
  expect(POSTGRES_PASSWORD?.()).toBe("second");
  rmSync(file);
  expect(() => POSTGRES_PASSWORD?.()).toThrow(`${file} cannot be read (ENOENT)`);
});

test("both forms of a secret at once are refused, and the fault shows neither", () => {
  const file = written("url", "nats://me:hush@b");
  const fault = faultOf({ NATS_URL: "nats://me:hush@a", NATS_URL_FILE: file });
  expect(fault).toContain("NATS_URL and NATS_URL_FILE: both are set, expected only one of them");
  expect(fault).not.toContain("hush");
});

test("a file that is missing, empty or wrong is named, and its content is not shown", () => {
  expect(faultOf({ NATS_URL: "", NATS_URL_FILE: "/no/such/file" })).toContain(
    "NATS_URL_FILE: /no/such/file cannot be read (ENOENT)",
  );
  const empty = written("empty", "\n");
  expect(faultOf({ NATS_URL: "", NATS_URL_FILE: empty })).toContain(`${empty} is empty`);
  const wrong = written("wrong", "me:hush@b");
  const fault = faultOf({ NATS_URL: "", NATS_URL_FILE: wrong });
  expect(fault).toMatch(/^NATS_URL_FILE: expected URLs .*the value is not shown/m);
  expect(fault).not.toContain("hush");
});

test.each([
  [{ NATS_URL: "nats://me:hush@a,nats://b" }, /^NATS_URL: its URLs differ in user or password/m],
  [
    { CLICKHOUSE_URL: "http://a/t,http://b/t" },
    /^CLICKHOUSE_URL: several servers, expected one unless CLICKHOUSE_LAYOUT is cluster/m,
  ],
  [
    { CLICKHOUSE_LAYOUT: "cluster", CLICKHOUSE_URL: "http://me:hush@a/t,http://b/t" },
    /^CLICKHOUSE_URL: its URLs differ in scheme, user, password or database/m,
  ],
  [
    { NATS_URL: "nats://me:hush@a", NATS_USER: "me", NATS_PASSWORD: "hush" },
    /^the user in NATS_URL and NATS_USER: each is a way to log in/m,
  ],
  [{ NATS_USER: "me" }, /^NATS_USER and NATS_PASSWORD: only one is set/m],
  [
    { POSTGRES_URL: "postgres://me:hush@a/b", POSTGRES_PASSWORD: "hush" },
    /^POSTGRES_PASSWORD and the password in POSTGRES_URL: expected only one/m,
  ],
  [{ NATS_CERT_FILE: "package.json" }, /^NATS_CERT_FILE and NATS_KEY_FILE: only one is set/m],
  [
    { CLICKHOUSE_URL: "http://a/b", CLICKHOUSE_CA_FILE: "package.json" },
    /^CLICKHOUSE_CA_FILE: set, but CLICKHOUSE_URL does not begin with https/m,
  ],
])("settings that contradict each other are refused with their names: %j", (given, fault) => {
  expect(faultOf(given)).toMatch(fault);
  expect(faultOf(given)).not.toContain("hush");
});

test("a login without a server is refused", () => {
  expect(() => readSettings("tracker", { NATS_USER: "me", NATS_PASSWORD: "hush" })).toThrow(
    "NATS_USER, NATS_PASSWORD: set, but NATS_URL is not",
  );
});

function written(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  chmodSync(file, 0o600);
  return file;
}

function faultOf(given: Readonly<Record<string, string>>): string {
  try {
    readSettings("api", { ...SERVERS, ...given });
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  return "none";
}
