import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { secretLines } from "./host-lines.ts";

test("each file with a secret of npm start that others can read has a line that refuses (P35)", () => {
  const folder = mkdtempSync(join(tmpdir(), "tracker-secrets-"));
  const secret = ["clickhouse.password", "console.json", "console.secret", "demo.json"];
  const names = [...secret, "servers.json", "ports.json"];
  for (const name of names) writeFileSync(join(folder, name), "", { mode: 0o600 });
  expect(secretLines(folder, []).map(({ state }) => state)).toEqual(["ok"]);
  for (const name of names) chmodSync(join(folder, name), 0o644);
  const lines = secretLines(folder, []);
  const found = lines.map(({ state, text }) => [state, text.split(" ", 1)[0]]);
  expect(found).toEqual([...secret, "servers.json"].map((name) => ["refuse", join(folder, name)]));
  rmSync(folder, { recursive: true });
});

test("a credential of systemd is closed to others, whatever the rights of its group look like (P35)", () => {
  const folder = mkdtempSync(join(tmpdir(), "tracker-credentials-"));
  const file = join(folder, "postgres-url");
  writeFileSync(file, "", { mode: 0o440 });
  const stateIn = (credentials: string): string[] =>
    secretLines("/nowhere", [file], [credentials]).map(({ state }) => state);
  expect(stateIn(`${folder}/`)).toEqual(["ok"]);
  expect(stateIn("/run/credentials/")).toEqual(["refuse"]);
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
  const states = (handedOver?: readonly string[]): string[] =>
    secretLines("/nowhere", [file], handedOver).map(({ state }) => state);
  expect(states()).toEqual(["refuse"]);
  expect(states([`${folder}/`])).toEqual(["ok"]);
  symlinkSync("..2026_11_28", join(folder, "..data"));
  expect(states()).toEqual(["ok"]);
  rmSync(folder, { recursive: true });
});

test("a DATA_DIR that cannot be read is a line of doctor, and the other lines are there (P35)", () => {
  const folder = mkdtempSync(join(tmpdir(), "tracker-closed-"));
  const closed = join(folder, "data");
  const file = join(folder, "postgres-url");
  writeFileSync(closed, "no folder");
  writeFileSync(file, "", { mode: 0o644 });
  const lines = secretLines(closed, [file]).map(({ state, text }) => [
    state,
    text.split(" ", 1)[0],
  ]);
  expect(lines).toEqual([
    ["refuse", file],
    ["warn", "DATA_DIR"],
  ]);
  rmSync(folder, { recursive: true });
});
