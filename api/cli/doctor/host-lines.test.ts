import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
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
    secretLines("/nowhere", [file], credentials).map(({ state }) => state);
  expect(stateIn(`${folder}/`)).toEqual(["ok"]);
  expect(stateIn("/run/credentials/")).toEqual(["refuse"]);
  rmSync(folder, { recursive: true });
});
