import { execFile } from "node:child_process";
import { lstat, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { projectFile } from "../../../schemas/host/project-root.ts";
import { connectNats } from "../../../schemas/nats/connect.ts";
import type { ServerUrls } from "../../services/servers.ts";
import { opsPortsOf } from "../../system/ops-ports.ts";
import { serversOf } from "../../system/servers-of.ts";
import { type System, startSystem } from "../../system/start-system.ts";

/** Permission bits of group and others. */
const OTHERS = 0o077;

let system: System;
let servers: ServerUrls;
let passwords: string[];

beforeAll(async () => {
  system = await startSystem({ isEmpty: true });
  servers = await serversOf(system);
  const files = (await readdir(system.dataDir)).filter((name) => name.endsWith(".password"));
  const kept = files.map((name) => readFile(join(system.dataDir, name), "utf8"));
  passwords = [
    ...Object.values(servers).map((url) => new URL(url).password),
    ...(await Promise.all(kept)),
  ];
});
afterAll(() => system[Symbol.asyncDispose]());

test("embedded NATS refuses connections without its password, which the command line has (#18)", async () => {
  const url = new URL(servers.nats);
  expect(url.password).not.toBe("");
  const { host } = url;
  for (const stranger of [`nats://${host}`, `nats://tracker:wrong@${host}`]) {
    const refused = connectNats({ url: stranger, name: "stranger", prefix: "" });
    await expect(refused).rejects.toThrow(/refuses the login/);
  }
  const program = projectFile(".build", "api", "tracker.js");
  const env = { PATH: process.env["PATH"], DATA_DIR: system.dataDir };
  const { stdout } = await promisify(execFile)(process.execPath, [program, "migrate"], { env });
  expect(stdout).not.toBe("");
});

test("no password, key or token is printed, logged or visible in the process list (#18)", async () => {
  const { demo } = system.client;
  const { admin, analyst, partner, advertiser } = demo.keys;
  const secrets = [...passwords, demo.postback_token, admin, analyst, partner, advertiser];
  expect(secrets.every((secret) => secret.length >= 16)).toBe(true);
  const texts = new Map([["output", system.output()]]);
  const folder = join(system.dataDir, "logs");
  for (const name of await readdir(folder, { recursive: true }))
    if (name.includes(".log")) texts.set(name, await readFile(join(folder, name), "utf8"));
  for (const pid of (await readdir("/proc")).filter((name) => /^\d+$/.test(name))) {
    // The process may have ended.
    const line = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
    if (line.includes(system.dataDir)) texts.set(`process ${pid}`, line);
  }
  expect(texts.size).toBeGreaterThan(5);
  for (const [name, text] of texts)
    for (const secret of secrets) expect([name, text.includes(secret)]).toEqual([name, false]);
  expect(system.output()).toContain(join(system.dataDir, "demo.json"));
});

test("only the owner can read DATA_DIR, including the files of ClickHouse and NATS (#18)", async () => {
  const openFiles = async (folder: string, depth: number): Promise<string[]> => {
    const found: string[] = [];
    for (const name of await readdir(folder)) {
      const path = join(folder, name);
      // Servers remove files at any time.
      const entry = await lstat(path).catch(() => undefined);
      if (entry === undefined || entry.isSymbolicLink()) continue;
      if ((entry.mode & OTHERS) !== 0) found.push(path);
      if (entry.isDirectory() && depth > 0) found.push(...(await openFiles(path, depth - 1)));
    }
    return found;
  };
  expect(await openFiles(system.dataDir, 0)).toEqual([]);
  expect(await openFiles(join(system.dataDir, "clickhouse"), 20)).toEqual([]);
  expect(await openFiles(join(system.dataDir, "nats"), 20)).toEqual([]);
});

test("the tracking port shows no facts, even behind a bare proxy; the operations ports do (#18, P6)", async () => {
  const { tracking_url } = system.client.demo;
  const get = async (url: string, headers: Record<string, string> = {}): Promise<string> => {
    const answer = await fetch(url, { headers });
    return `${answer.status} ${await answer.text()}`;
  };
  const callers = [
    // A caller on this machine, or a proxy on it that adds no headers.
    {},
    { "x-forwarded-for": "203.0.113.9" },
    { "x-forwarded-proto": "https" },
    { via: "1.1 proxy" },
  ];
  for (const headers of callers) {
    expect(await get(`${tracking_url}/health`, headers)).toBe('200 {"ok":true}\n');
    expect(await get(`${tracking_url}/metrics`, headers)).toMatch(/^404 /);
  }
  const ports = await opsPortsOf(system);
  expect(new Set(ports.keys())).toEqual(new Set(["ingress-0", "processors", "api"]));
  for (const [name, port] of ports) {
    const own = `http://127.0.0.1:${port}`;
    expect(await get(`${own}/status`)).toContain(`"role":"${name.replace("-0", "")}"`);
    expect(await get(`${own}/readyz`)).toMatch(/^200 /);
    expect(await get(`${own}/metrics`)).toContain("tracker_process_start_time_seconds");
  }
});
