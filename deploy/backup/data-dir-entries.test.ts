import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { projectFile } from "../../schemas/host/project-root.ts";
import { DATA_DIR_ENTRIES, INSTALLATION_FILES, unknownEntries } from "./data-dir-entries.ts";

test("every secret that npm start keeps in DATA_DIR is in the archive", () => {
  expect(INSTALLATION_FILES).toEqual(
    expect.arrayContaining(["console.secret", "console.json", "nats-system.password", "demo.json"]),
  );
});

test("a file that no release writes is named, and drafts of known files are not", () => {
  const folder = mkdtempSync(join(tmpdir(), "tracker-entries-"));
  mkdirSync(join(folder, "postgres.new"));
  for (const name of ["servers.json.new", "demo.json.4711", "console.secret", "notes.txt"])
    writeFileSync(join(folder, name), "");
  expect(unknownEntries(folder)).toEqual(["notes.txt"]);
  rmSync(folder, { recursive: true });
});

test("deploy/pages/backup.md has a line for every entry of DATA_DIR", () => {
  const page = readFileSync(projectFile("deploy", "pages", "backup.md"), "utf8");
  for (const [name, entry] of Object.entries(DATA_DIR_ENTRIES)) {
    const line = page.split("\n").find((one) => one.startsWith("|") && one.includes(`\`${name}\``));
    expect(line, name).toMatch(entry.kind === "left out" ? /\| no: / : /\| yes/);
  }
});
