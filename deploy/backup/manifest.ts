import { createHash } from "node:crypto";
import { createReadStream, lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { z } from "zod";
import { projectFile } from "../../schemas/host/project-root.ts";
import { HOW_TO_KEEP } from "../../schemas/versions/judge-schema.ts";
import { knownSchema } from "../../schemas/versions/migration-files.ts";
import { LaunchError } from "../local/report.ts";

/** Archives of format 1 have stores of commits before the first release. */
const FORMAT = 2;

/** The first file of an archive: what it holds, and from which release. */
const Manifest = z.object({
  format: z.int().positive(),
  release: z.string(),
  /** Number of the newest migration of each store. */
  migrations: z.object({ postgres: z.int(), clickhouse: z.int() }),
  /** Every click and conversion that was answered before this time is in the archive, UTC. */
  began_at: z.iso.datetime(),
  files: z.array(
    z.object({
      path: z.string(),
      bytes: z.int().nonnegative(),
      sha256: z.string().regex(/^[0-9a-f]{64}$/),
    }),
  ),
});
export type Manifest = z.infer<typeof Manifest>;

/** The manifest of files below a folder, for this release. */
export async function describeFiles(
  folders: readonly string[],
  beganAt: string,
): Promise<Manifest> {
  const files: Manifest["files"] = [];
  for (const folder of folders) {
    for (const path of filesBelow(folder)) files.push(await describeFile(folder, path));
  }
  return { format: FORMAT, ...thisRelease(), began_at: beganAt, files };
}

/** @throws {LaunchError} for a manifest that is damaged, of a newer release, or of a commit before the first one. */
export function readManifest(file: string): Manifest {
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    throw new LaunchError("The archive has no readable manifest.json: it is damaged.", {
      cause: error,
    });
  }
  const parsed = Manifest.safeParse(content);
  if (!parsed.success) throw new LaunchError("The manifest.json of the archive is damaged.");
  const manifest = parsed.data;
  if (manifest.format < FORMAT)
    throw new LaunchError(`The archive is of a commit before the first release. ${HOW_TO_KEEP}.`);
  const running = thisRelease();
  const isNewer =
    manifest.format > FORMAT ||
    manifest.migrations.postgres > running.migrations.postgres ||
    manifest.migrations.clickhouse > running.migrations.clickhouse;
  if (isNewer) {
    throw new LaunchError(
      `The archive is of the newer release ${manifest.release}; this is ${running.release}. Restore it with that release.`,
    );
  }
  return manifest;
}

/** @throws {LaunchError} naming the first file that is missing, surplus or different. */
export async function verifyFiles(folder: string, manifest: Manifest): Promise<void> {
  const known = new Map(manifest.files.map((file) => [file.path, file]));
  for (const path of filesBelow(folder)) {
    if (path === "manifest.json") continue;
    const expected = known.get(path);
    if (expected === undefined) throw damaged(`${path} is not in its manifest`);
    const found = await describeFile(folder, path);
    if (found.bytes !== expected.bytes || found.sha256 !== expected.sha256) {
      throw damaged(`${path} differs from its manifest`);
    }
    known.delete(path);
  }
  for (const path of known.keys()) throw damaged(`${path} is missing`);
}

function damaged(what: string): LaunchError {
  return new LaunchError(`The archive is damaged: ${what}. Nothing was restored.`);
}

/** Regular files, as paths relative to the folder, sorted. Anything else in an archive is refused. */
function filesBelow(folder: string, below = ""): string[] {
  const paths: string[] = [];
  for (const name of readdirSync(join(folder, below)).sort()) {
    const path = below === "" ? name : `${below}/${name}`;
    const entry = lstatSync(join(folder, path));
    if (entry.isDirectory()) paths.push(...filesBelow(folder, path));
    else if (entry.isFile()) paths.push(path);
    else throw damaged(`${path} is neither a file nor a folder`);
  }
  return paths;
}

async function describeFile(folder: string, path: string): Promise<Manifest["files"][number]> {
  const file = join(folder, path);
  const hash = createHash("sha256");
  await pipeline(createReadStream(file), hash);
  return { path, bytes: lstatSync(file).size, sha256: hash.digest("hex") };
}

function thisRelease(): Pick<Manifest, "release" | "migrations"> {
  const { version } = z
    .object({ version: z.string() })
    .parse(JSON.parse(readFileSync(projectFile("package.json"), "utf8")));
  return { release: version, migrations: knownSchema() };
}
