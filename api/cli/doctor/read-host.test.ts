import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { judgeSecrets } from "../../../schemas/checks/judge-host.ts";
import { plainHosts, readSecrets } from "./read-host.ts";

/** The sentences about files that refuse. */
function refused(...given: Parameters<typeof readSecrets>): string[] {
  const { faults } = judgeSecrets({ secrets: readSecrets(...given) });
  return faults.map(({ weight, sentence }) => `${weight} ${sentence}`);
}

test("each file with a secret of npm start that others can read has a line that refuses (P35)", () => {
  const folder = mkdtempSync(join(tmpdir(), "tracker-secrets-"));
  const secret = [
    "clickhouse.password",
    "console.json",
    "console.secret",
    "demo.json",
    "secrets.key",
  ];
  const names = [...secret, "servers.json", "ports.json"];
  for (const name of names) writeFileSync(join(folder, name), "", { mode: 0o600 });
  expect(refused(folder, [])).toEqual([]);
  for (const name of names) chmodSync(join(folder, name), 0o644);
  const found = refused(folder, []).map((text) => text.split(" ", 2).join(" "));
  expect(found).toEqual([...secret, "servers.json"].map((name) => `refuses ${join(folder, name)}`));
  rmSync(folder, { recursive: true });
});

test("a credential of systemd is closed to others, whatever the rights of its group look like (P35)", () => {
  const folder = mkdtempSync(join(tmpdir(), "tracker-credentials-"));
  const file = join(folder, "postgres-url");
  writeFileSync(file, "", { mode: 0o440 });
  expect(refused("/nowhere", [file], [`${folder}/`])).toEqual([]);
  expect(refused("/nowhere", [file], ["/run/credentials/"])).toEqual([
    expect.stringMatching(/^refuses .*postgres-url can be read .*`chmod 600 /),
  ]);
  rmSync(folder, { recursive: true });
});

test("the rights of secrets that Docker or Kubernetes mounts are no fault (P35, G268)", () => {
  const folder = mkdtempSync(join(tmpdir(), "tracker-mounted-secrets-"));
  chmodSync(folder, 0o755);
  // As a volume of Kubernetes: a folder with the date in its name, a link to it, and a link for each file.
  mkdirSync(join(folder, "..2026_11_28"));
  writeFileSync(join(folder, "..2026_11_28", "postgres-url"), "", { mode: 0o440 });
  const file = join(folder, "postgres-url");
  symlinkSync(join("..2026_11_28", "postgres-url"), file);
  expect(refused("/nowhere", [file]).length).toBe(1);
  expect(refused("/nowhere", [file], [`${folder}/`])).toEqual([]);
  symlinkSync("..2026_11_28", join(folder, "..data"));
  expect(refused("/nowhere", [file])).toEqual([]);
  rmSync(folder, { recursive: true });
});

test("a DATA_DIR that cannot be read is a line of doctor, and the other lines are there (P35)", () => {
  const folder = mkdtempSync(join(tmpdir(), "tracker-closed-"));
  const closed = join(folder, "data");
  const file = join(folder, "postgres-url");
  writeFileSync(closed, "no folder");
  writeFileSync(file, "", { mode: 0o644 });
  const found = refused(closed, [file]).map((text) => text.split(" ", 2).join(" "));
  expect(found).toEqual([`refuses ${file}`, "warns DATA_DIR"]);
  rmSync(folder, { recursive: true });
});

test("a connection to another host without TLS is named with its host and nothing more (P35)", () => {
  const plain = plainHosts({
    POSTGRES_URL: "postgres://u:hush@10.0.0.1:5432/tracker",
    NATS_URL: "tls://a:4222, nats://u:hush@b:4222",
    CLICKHOUSE_URL: "http://127.0.0.1:8123",
  });
  expect([...plain]).toEqual([
    ["POSTGRES_URL", ["10.0.0.1:5432"]],
    ["NATS_URL", ["b:4222"]],
  ]);
  const safe = { POSTGRES_URL: "postgres://db/tracker?sslmode=verify-full" };
  expect(plainHosts(safe).size).toBe(0);
});
