import { mkdtempSync, readFileSync, rmSync, truncateSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type AccessEntry, AccessLog } from "./access-log.ts";

let folder: string;
let dropped: number;
let faults: unknown[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tracker-access-"));
  dropped = 0;
  faults = [];
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const entry = (parts: Partial<AccessEntry> = {}): AccessEntry => ({
  atMs: Date.UTC(2026, 0, 2, 3, 4, 5, 6),
  requestId: "request-1",
  method: "GET",
  route: "/r/:offer/:affiliate",
  status: 302,
  tookUs: 41,
  bytes: 1,
  host: "Go.Example:8080",
  clickId: "",
  reason: "",
  ...parts,
});

function open(share: number, path = join(folder, "access.log")): AccessLog {
  const events = {
    dropped: (lines: number) => void (dropped += lines),
    failed: (error: unknown) => void faults.push(error),
  };
  return AccessLog.open({ role: "ingress", share, file: path, events });
}

const read = (): string[] =>
  readFileSync(join(folder, "access.log"), "utf8").split("\n").slice(0, -1);

test("a line has the documented fields, and text of a stranger stays inside its field", async () => {
  const log = open(1);
  log.note(entry());
  log.note(entry({ host: 'x","role":"admin', method: "G\nET", reason: 'a "word"' }));
  await log.close();
  const [first = "", second = ""] = read();
  expect(first).toBe(
    '{"t":"2026-01-02T03:04:05.006Z","role":"ingress","rid":"request-1","m":"GET","route":"/r/:offer/:affiliate",' +
      '"status":302,"us":41,"bytes":1,"host":"go.example:8080","click":"","reason":""}',
  );
  expect(JSON.parse(second)).toMatchObject({
    role: "ingress",
    host: "",
    m: "",
    reason: 'a "word"',
  });
});

test.each([
  [0, [404, 500]],
  [1, [200, 302, 404, 500]],
])("with the share %s the statuses %j have a line", async (share, statuses) => {
  const log = open(share);
  expect([200, 302, 404, 500].filter((status) => log.wants(status))).toEqual(statuses);
  await log.close();
});

test("a share is that of the answers without an error", async () => {
  const log = open(0.25);
  const wanted = Array.from({ length: 10_000 }, () => log.wants(302)).filter(Boolean).length;
  expect(wanted).toBeGreaterThan(2_000);
  expect(wanted).toBeLessThan(3_000);
  await log.close();
});

test("lines that find no room are counted, and no other is lost", async () => {
  const log = open(1);
  for (let n = 0; n < 20_000; n += 1) log.note(entry({ requestId: `request-${n}` }));
  await log.close();
  expect(dropped).toBeGreaterThan(0);
  expect(read().length + dropped).toBe(20_000);
});

test("a file that is copied and truncated is continued at its beginning", async () => {
  const log = open(1);
  log.note(entry({ requestId: "before-01" }));
  log.reopen();
  await expect.poll(() => read().length).toBe(1);
  truncateSync(join(folder, "access.log"));
  log.note(entry({ requestId: "after-001" }));
  await log.close();
  expect(read().map((line) => line.includes("after-001"))).toEqual([true]);
});

test("a disk that takes nothing costs lines, which are counted, and no error", async () => {
  const log = open(1, "/dev/full");
  for (let n = 0; n < 3; n += 1) log.note(entry());
  await log.close();
  expect(dropped).toBe(3);
  expect(faults).toHaveLength(1);
});
