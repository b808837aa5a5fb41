import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { z } from "zod";
import { projectFile } from "../../schemas/host/project-root.ts";
import { CHANGELOG_HEAD, releaseSection, withSection } from "./changelog.ts";
import { outputOf, ReleaseError } from "./run-program.ts";
import { compareVersions, newestVersion, parseVersion, versionText } from "./version.ts";

const CHANGELOG = "deploy/CHANGELOG.md";
const CHART = "deploy/helm/tracker/Chart.yaml";
const RELEASED = "schemas/versions/released.json";
const NOTED = ["package.json", "package-lock.json", CHART, CHANGELOG, RELEASED] as const;

const Package = z.looseObject({ version: z.string() });
const Lock = z.looseObject({
  version: z.string(),
  packages: z.looseObject({ "": z.looseObject({ version: z.string() }) }),
});

/** @throws {ReleaseError} unless the checkout is a commit. */
export function requireCleanCheckout(): void {
  const changed = outputOf("git", ["status", "--porcelain"]);
  if (changed !== "")
    throw new ReleaseError(
      `these files differ from the commit, commit or remove them:\n${changed}`,
    );
}

export function tagOf(version: string): string {
  return `v${version}`;
}

function releaseTags(): string[] {
  return outputOf("git", ["tag", "--list", "v*"]).split("\n");
}

/**
 * Writes the version into the package, its lock and the chart, the changes since the release before into the changelog, and what must stay as it is
 * from now on into released.json; commits that, and tags the commit. @throws {ReleaseError} for a version that is not newer, and if a migration
 * or message of the release before was changed. The files are then as they were.
 */
export function noteRelease(version: string): void {
  const next = parseVersion(version);
  if (next === undefined)
    throw new ReleaseError(`"${version}" is no version: three numbers, such as 1.4.0`);
  const before = newestVersion(releaseTags());
  if (before !== undefined && compareVersions(next, before) <= 0)
    throw new ReleaseError(`${version} is not newer than the release ${versionText(before)}`);
  try {
    writeVersion(version);
    writeChangelog(version, before === undefined ? undefined : tagOf(versionText(before)));
    outputOf(process.execPath, [projectFile(".build", "test", "schema", "release.js")]);
  } catch (error) {
    outputOf("git", ["checkout", "--quiet", "HEAD", "--", ...NOTED.filter(isInHead)]);
    throw error;
  }
  outputOf("git", ["add", ...NOTED]);
  outputOf("git", ["commit", "--quiet", "--allow-empty", "--message", `Release ${version}`]);
  outputOf("git", ["tag", "--annotate", tagOf(version), "--message", `Release ${version}`]);
}

function isInHead(file: string): boolean {
  return outputOf("git", ["ls-tree", "--name-only", "HEAD", "--", file]) !== "";
}

function writeVersion(version: string): void {
  const change = <T>(file: string, schema: z.ZodType<T>, changed: (value: T) => T): void => {
    const path = projectFile(file);
    const value = schema.parse(JSON.parse(readFileSync(path, "utf8")));
    writeFileSync(path, `${JSON.stringify(changed(value), null, 2)}\n`);
  };
  change("package.json", Package, (manifest) => ({ ...manifest, version }));
  change("package-lock.json", Lock, (lock) => ({
    ...lock,
    version,
    packages: { ...lock.packages, "": { ...lock.packages[""], version } },
  }));
  const chart = readFileSync(projectFile(CHART), "utf8");
  writeFileSync(projectFile(CHART), withChartVersion(chart, version));
}

/** @throws {ReleaseError} for a chart without the two lines. */
function withChartVersion(chart: string, version: string): string {
  const written = chart
    .replace(/^version: .+$/m, `version: ${version}`)
    .replace(/^appVersion: .+$/m, `appVersion: "${version}"`);
  if (written.split(version).length !== 3)
    throw new ReleaseError(`${CHART} has no lines version and appVersion`);
  return written;
}

function writeChangelog(version: string, before: string | undefined): void {
  const path = projectFile(CHANGELOG);
  const subjects =
    before === undefined
      ? undefined
      : outputOf("git", ["log", "--no-merges", "--format=%s", `${before}..HEAD`])
          .split("\n")
          .filter((subject) => subject !== "");
  const date = new Date().toISOString().slice(0, 10);
  const known = existsSync(path) ? readFileSync(path, "utf8") : CHANGELOG_HEAD;
  writeFileSync(path, withSection(known, releaseSection(version, date, subjects)));
}
