import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { LockHeldError, takeFileLock } from "./file-lock.ts";
import { openInstallation } from "./installation.ts";
import { keepFilesPrivate, storedSecret } from "./kept-files.ts";
import { processIdentity } from "./process-identity.ts";
import { readLiveProcess, stopRecordedProcess, writeProcessRecord } from "./process-record.ts";
import { logSince, RotatingLog } from "./rotating-log.ts";

let folder: string;
const file = (): string => join(folder, "file");

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tracker-test-files-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("a lock", () => {
  test("is one holder's until it is given back", () => {
    const release = takeFileLock(file(), "first");
    expect(() => takeFileLock(file(), "second")).toThrow(LockHeldError);
    release();
    takeFileLock(file(), "third")();
    expect(readdirSync(folder)).toEqual([]);
  });

  test.each([
    ["a process that has ended", { pid: 2 ** 22 + 1, identity: "gone", command: "npm start" }],
    ["a stranger under the same number", { pid: process.pid, identity: "x", command: "npm start" }],
    ["a torn file", "{"],
  ])("of %s is free", (_, content) => {
    writeFileSync(file(), typeof content === "string" ? content : JSON.stringify(content));
    const release = takeFileLock(file(), "next");
    expect(readLiveProcess(file())?.command).toBe("next");
    release();
  });
});

describe("a process record", () => {
  test("finds the living process and nobody else", () => {
    writeProcessRecord(file(), process.pid, "vitest");
    expect(readLiveProcess(file())).toEqual({
      pid: process.pid,
      identity: processIdentity(process.pid),
      command: "vitest",
    });
  });

  test("under which a stranger runs now leads to no signal", async () => {
    const record = { pid: process.pid, identity: "another", command: "postgres" };
    writeFileSync(file(), JSON.stringify(record));
    const options = { file: file(), stopSignal: "SIGKILL", deadlineMs: 10 } as const;
    expect(await stopRecordedProcess(options)).toBeUndefined();
    expect(existsSync(file())).toBe(false);
  });
});

describe("an installation", () => {
  test("that began empty wants its demo workspace until it has one, however often it is cut off", () => {
    mkdirSync(join(folder, "runtime"));
    const first = openInstallation(folder);
    expect(first.needsDemo).toBe(true);
    mkdirSync(join(folder, "postgres"));
    const second = openInstallation(folder);
    expect(second).toMatchObject({ id: first.id, needsDemo: true });
    second.noteDemoCreated(undefined);
    expect(openInstallation(folder)).toMatchObject({ id: first.id, needsDemo: false });
  });

  test("on data that is there already gets no demo workspace", () => {
    mkdirSync(join(folder, "postgres"));
    expect(openInstallation(folder).needsDemo).toBe(false);
  });

  test("whose file is damaged is refused with a sentence", () => {
    writeFileSync(join(folder, "installation.json"), "{}");
    expect(() => openInstallation(folder)).toThrow(/is damaged. Delete it to go on/);
  });
});

test("a secret is made once, kept, and readable by its owner only", () => {
  const secret = storedSecret(file());
  expect(secret).toMatch(/^[\w-]{32}$/);
  expect(storedSecret(file())).toBe(secret);
  expect(statSync(file()).mode & 0o777).toBe(0o600);
});

describe("a log", () => {
  test("never takes more than twice its limit, and keeps the latest", () => {
    const log = new RotatingLog(file(), () => undefined, 100);
    for (let i = 0; i < 50; i++) log.write(`line number ${i}\n`);
    const sizes = readdirSync(folder).map((name) => statSync(join(folder, name)).size);
    expect(sizes).toHaveLength(2);
    for (const size of sizes) expect(size).toBeLessThan(120);
    expect(readFileSync(file(), "utf8")).toMatch(/line number 49\n$/);
  });

  test("that cannot be written says so once and counts what it lost", () => {
    const faults: string[] = [];
    const log = new RotatingLog(join(folder, "logs", "x"), (cause) => faults.push(cause.message));
    rmSync(join(folder, "logs"), { recursive: true });
    log.write("a");
    log.write("b");
    expect([faults.length, log.lostWrites]).toEqual([1, 2]);
  });

  test("is read from where it was, also when it was begun anew", () => {
    writeFileSync(file(), "an old line\n");
    const added = logSince(file());
    expect(added()).toBe("");
    writeFileSync(file(), "an old line\nand a new one\n");
    expect(added()).toBe("and a new one\n");
    writeFileSync(file(), "rotated\n");
    expect(added()).toBe("rotated\n");
  });
});

describe("private files", () => {
  let umask: number;
  beforeEach(() => {
    umask = process.umask();
  });
  afterEach(() => {
    process.umask(umask);
  });

  const modeOf = (...path: string[]): number => statSync(join(folder, ...path)).mode & 0o777;

  test("what is made from now on is for its owner alone, and what was open is closed (#18)", () => {
    process.umask(0o022);
    const dataDir = join(folder, "data");
    mkdirSync(join(dataDir, "clickhouse", "store"), { recursive: true });
    writeFileSync(join(dataDir, "ports.json"), "{}");
    writeFileSync(join(dataDir, "run.sh"), "");
    chmodSync(join(dataDir, "run.sh"), 0o755);
    const outside = join(folder, "outside");
    writeFileSync(outside, "");
    symlinkSync(outside, join(dataDir, "link"));
    keepFilesPrivate(dataDir);
    keepFilesPrivate(dataDir);
    expect(modeOf("data") & 0o066).toBe(0);
    expect(modeOf("data", "clickhouse")).toBe(0o700);
    expect([modeOf("data", "ports.json"), modeOf("data", "run.sh")]).toEqual([0o600, 0o700]);
    // Files outside the folder stay as they are.
    expect(modeOf("outside")).toBe(0o644);
    mkdirSync(join(dataDir, "nats"));
    writeFileSync(join(dataDir, "nats", "block"), "");
    expect([modeOf("data", "nats"), modeOf("data", "nats", "block")]).toEqual([0o700, 0o600]);
  });

  test("a folder that is not there yet is made", () => {
    keepFilesPrivate(join(folder, "new", "data"));
    expect(modeOf("new", "data") & 0o066).toBe(0);
  });
});
