import { spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { z } from "zod";
import { archiveName } from "../../deploy/release/make-files.ts";
import { newestVersion, versionText } from "../../deploy/release/version.ts";
import { projectFile, projectRoot } from "../../schemas/host/project-root.ts";
import { knownSchema } from "../../schemas/versions/migration-files.ts";

/** Version of {@link nextRelease}. */
const NEXT_VERSION = "99.0.0";

/** A built release in a folder of its own. */
export type Release = { readonly version: string; readonly root: string };

const Package = z.looseObject({ version: z.string() });
/** What a release needs besides its npm packages. */
const PARTS = ["package.json", ".build", "schemas", "ingress", "processors", "api", "deploy"];

/** The release of this checkout. */
export function thisRelease(): Release {
  return { version: packageOf(projectRoot).version, root: projectRoot };
}

/**
 * The archive of the newest release: of RELEASE_ARCHIVE, else of `.release/`. Undefined before the first release, and in a checkout that has only
 * the sources.
 */
export function releasedArchive(): string | undefined {
  const named = process.env["RELEASE_ARCHIVE"];
  if (named !== undefined && named !== "") return named;
  const folder = projectFile(".release");
  const versions = existsSync(folder) ? readdirSync(folder) : [];
  const newest = newestVersion(versions);
  if (newest === undefined) return undefined;
  const version = versionText(newest);
  const file = join(folder, version, archiveName(version));
  return existsSync(file) ? file : undefined;
}

/** The release of an archive that `npm run release` made. */
export function unpackRelease(archive: string): Release & Disposable {
  const folder = mkdtempSync(join(tmpdir(), "tracker-released-"));
  const { status, stderr } = spawnSync("tar", ["-xzf", archive, "-C", folder], {
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(stderr);
  const [name = ""] = readdirSync(folder);
  const root = join(folder, name);
  return {
    version: packageOf(root).version,
    root,
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Where a newer sender puts a field that this release does not know: the file, a text that it has once, and its replacement. */
const NEW_FIELDS = [
  ["ingress/decide/click-line.js", '`{"click_id":', '`{"next_field":"next","click_id":'],
  ["schemas/events/click-batch.js", "JSON.stringify(head)", "JSON.stringify({ ...head, next: 1 })"],
  ["schemas/nats/ask.js", "JSON.stringify(body)", "JSON.stringify({ ...body, next_field: {} })"],
  [
    "processors/conversions/start.js",
    "JSON.stringify(reply)",
    "JSON.stringify({ ...reply, next_field: {} })",
  ],
  [
    "processors/clicks/lane/watermarks.js",
    "JSON.stringify(page)",
    "JSON.stringify(page.map((one) => ({ ...one, next_field: {} })))",
  ],
  [
    "processors/clicks/lane/lane-notices.js",
    "JSON.stringify({ lane, lanes, totals, isWhole })",
    "JSON.stringify({ lane, lanes, totals, isWhole, next_field: {} })",
  ],
  [
    "processors/clicks/lane/answer-queries.js",
    "JSON.stringify(answer)",
    "JSON.stringify({ ...answer, next_field: {} })",
  ],
  [
    "processors/conversions/record/cap-publisher.js",
    "JSON.stringify(message)",
    "JSON.stringify({ ...message, next_field: {} })",
  ],
  [
    "ingress/inbound-log/inbound-log.js",
    "JSON.stringify(call)",
    "JSON.stringify({ ...call, next_field: {} })",
  ],
] as const;

/**
 * A release after this one: a copy of this build with another version, a migration of each store that adds something, one that removes
 * something, and a new field in each message. A clean checkout has no older release to build, so this checkout is the older release.
 */
export function nextRelease(): Release & Disposable {
  const root = mkdtempSync(join(tmpdir(), "tracker-next-release-"));
  for (const part of PARTS) {
    cpSync(projectFile(part), join(root, part), {
      recursive: true,
      filter: (path) => basename(path) !== "node_modules",
    });
  }
  symlinkSync(projectFile("node_modules"), join(root, "node_modules"));
  writeFileSync(
    join(root, "package.json"),
    JSON.stringify({ ...packageOf(root), version: NEXT_VERSION }),
  );
  addMigrations(root);
  for (const [file, before, after] of NEW_FIELDS)
    replaceOnce(join(root, ".build", file), before, after);
  return {
    version: NEXT_VERSION,
    root,
    [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }),
  };
}

function addMigrations(root: string): void {
  const { postgres, clickhouse } = knownSchema();
  const add = (store: string, number: number, text: string): void => {
    const name = `${pad(number)}_next_release.sql`;
    writeFileSync(join(root, "schemas", store, "migrations", name), text);
  };
  add(
    "postgres",
    postgres + 1,
    `-- reads: ${pad(postgres)}
create table next_release (id integer primary key);
create table only_old_releases (id integer primary key);
alter table conversion add column next_field text;
alter table offer add column next_field text not null default '';
`,
  );
  add(
    "postgres",
    postgres + 2,
    `-- contract: needs ${pad(postgres + 1)}\ndrop table only_old_releases;\n`,
  );
  add(
    "clickhouse",
    clickhouse + 1,
    `-- reads: ${pad(clickhouse)}
alter table click add column if not exists next_field String;
alter table conversion_fact add column if not exists next_field String;
`,
  );
}

function replaceOnce(file: string, before: string, after: string): void {
  const parts = readFileSync(file, "utf8").split(before);
  if (parts.length !== 2) throw new Error(`${file} has ${parts.length - 1} times ${before}`);
  writeFileSync(file, parts.join(after));
}

function packageOf(root: string): z.infer<typeof Package> {
  return Package.parse(JSON.parse(readFileSync(join(root, "package.json"), "utf8")));
}

function pad(number: number): string {
  return String(number).padStart(4, "0");
}
