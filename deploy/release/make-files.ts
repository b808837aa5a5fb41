import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { projectFile } from "../../schemas/host/project-root.ts";
import { installedPackages, readBom, withDebianPackages } from "./bill-of-materials.ts";
import { buildImage, type ImageOptions } from "./image.ts";
import { outputOf } from "./run-program.ts";
import type { Release } from "./version.ts";

/** What operators need beside the program. */
const DEPLOYMENT = ["pages", "systemd", "servers", "edge", "observe", "compose", "CHANGELOG.md"];

/**
 * Makes the files of a release in a new folder: the archive of the program with its dependencies and the bill of them, the chart, and the image with its
 * bill. Without `image` there is none.
 */
export function makeFiles(folder: string, release: Release, image: ImageOptions | undefined): void {
  const { version, date } = release;
  const work = mkdtempSync(join(tmpdir(), "tracker-release-"));
  const draft = join(work, "files");
  mkdirSync(draft);
  try {
    const name = `tracker-${version}`;
    const program = join(work, name);
    outputOf("sh", [projectFile("deploy", "image", "assemble.sh"), program]);
    writeFileSync(join(program, ".build", "commit"), `${release.commit}\n`);
    const sbom = ["sbom", "--sbom-format", "cyclonedx", "--package-lock-only", "--omit", "dev"];
    const lock = readFileSync(join(program, "package-lock.json"), "utf8");
    const installed = installedPackages(lock, (path) => existsSync(join(program, path)));
    const bom = readBom(outputOf("npm", sbom, { cwd: program }), date, (one) => installed.has(one));
    writeFileSync(join(draft, `${name}.cdx.json`), `${JSON.stringify(bom, null, 2)}\n`);
    for (const part of DEPLOYMENT)
      cpSync(projectFile("deploy", part), join(program, "deploy", part), { recursive: true });
    pack(join(draft, archiveName(version)), [work, name], date);
    const chart = [projectFile("deploy", "helm"), "tracker"] as const;
    pack(join(draft, `${name}-chart.tgz`), chart, date);
    if (image !== undefined) {
      const status = buildImage(join(draft, `${name}-image.tar`), release, image);
      const whole = withDebianPackages(bom, status);
      writeFileSync(join(draft, `${name}-image.cdx.json`), `${JSON.stringify(whole, null, 2)}\n`);
    }
    moveInto(folder, draft);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** The archive of a release for this kind of machine, whose native modules it has. */
export function archiveName(version: string): string {
  const node = process.versions.node.split(".", 1)[0] ?? "";
  return `tracker-${version}-${process.platform}-${process.arch}-node${node}.tar.gz`;
}

/** A link is packed as what it leads to. The same files give the same bytes: sorted, owned by root, with the time of the commit. */
function pack(file: string, [parent, name]: readonly [string, string], date: string): void {
  const same = ["--sort=name", `--mtime=${date}`, "--owner=0", "--group=0", "--numeric-owner"];
  const tar = file.replace(/\.(tar\.gz|tgz)$/, ".tar");
  outputOf("tar", ["--create", "--file", tar, "--dereference", ...same, "-C", parent, name]);
  outputOf("gzip", ["--no-name", tar]);
  renameSync(`${tar}.gz`, file);
}

/** The folder appears with all files or not at all. */
function moveInto(folder: string, draft: string): void {
  rmSync(`${folder}.new`, { recursive: true, force: true });
  cpSync(draft, `${folder}.new`, { recursive: true });
  renameSync(`${folder}.new`, folder);
}
