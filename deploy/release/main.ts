/** `npm run release`: notes a release and makes its files, or checks a folder of them. deploy/pages/release.md */
import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { buildInfo } from "../../schemas/host/build-info.ts";
import { projectFile } from "../../schemas/host/project-root.ts";
import { makeFiles } from "./make-files.ts";
import { noteRelease, requireCleanCheckout, tagOf } from "./note-release.ts";
import { outputOf, ReleaseError } from "./run-program.ts";
import { faultsOfFolder, readSigningKey, signFolder } from "./signature.ts";
import type { Release } from "./version.ts";

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;
const USAGE = `Usage: npm run release -- [VERSION] --key FILE [--no-image] [--image-option=OPTION …]
       npm run release -- --verify FOLDER --key FILE

With VERSION the checkout becomes that release: version, changelog, commit and tag. Without, the commit must be one.
The files are written into .release/VERSION and signed with the key: openssl genpkey -algorithm ed25519 -out release.key
`;

const OPTIONS = {
  key: { type: "string" },
  verify: { type: "string" },
  "no-image": { type: "boolean" },
  "image-option": { type: "string", multiple: true },
} as const;

async function main(args: readonly string[]): Promise<number> {
  const { values, positionals } = parsed(args);
  if (values.key === undefined || positionals.length > 1) {
    process.stderr.write(USAGE);
    return EXIT_USAGE;
  }
  if (values.verify !== undefined) return await verifyFolder(resolve(values.verify), values.key);
  const key = await readSigningKey(values.key);
  requireCleanCheckout();
  const [wanted] = positionals;
  if (wanted !== undefined) noteRelease(wanted);
  const release = releaseOfHead(wanted);
  const folder = projectFile(".release", release.version);
  if (existsSync(folder)) throw new ReleaseError(`${folder} exists already`);
  const options = values["image-option"] ?? [];
  makeFiles(folder, release, values["no-image"] === true ? undefined : { options });
  await signFolder(folder, key);
  process.stdout.write(`${folder}\n${readFileSync(`${folder}/SHA256SUMS`, "utf8")}`);
  return 0;
}

/** @throws {ReleaseError} for an unknown option. */
function parsed(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], allowPositionals: true, options: OPTIONS });
  } catch (error) {
    throw new ReleaseError(error instanceof Error ? error.message : String(error));
  }
}

async function verifyFolder(folder: string, keyFile: string): Promise<number> {
  const faults = await faultsOfFolder(folder, readFileSync(keyFile, "utf8"));
  for (const fault of faults) process.stderr.write(`${fault}\n`);
  if (faults.length === 0) process.stdout.write(`${folder} is as it was released\n`);
  return faults.length === 0 ? 0 : EXIT_FAILED;
}

/** @throws {ReleaseError} if the commit is no release. */
function releaseOfHead(version = buildInfo().version): Release {
  const commit = outputOf("git", ["rev-parse", "HEAD"]).trim();
  const tags = outputOf("git", ["tag", "--points-at", "HEAD"]).split("\n");
  if (!tags.includes(tagOf(version)))
    throw new ReleaseError(
      `this commit is no release (it has no tag ${tagOf(version)}): name the version`,
    );
  const date = outputOf("git", ["show", "--no-patch", "--format=%cI", "HEAD"]).trim();
  return { version, commit, date };
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof ReleaseError)) throw error;
  process.stderr.write(`release: ${error.message}\n`);
  process.exitCode = EXIT_FAILED;
}
