import { createHash, createPrivateKey, createPublicKey, sign, verify } from "node:crypto";
import { createReadStream } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";

const SUMS = "SHA256SUMS";
const SIGNATURE = "SHA256SUMS.sig";
const PUBLIC_KEY = "release-key.pub";
const OWN_FILES: ReadonlySet<string> = new Set([SUMS, SIGNATURE, PUBLIC_KEY]);

/** The key of an installation that signs its releases. @throws {Error} for a file that is no Ed25519 key. */
export async function readSigningKey(file: string): Promise<ReturnType<typeof createPrivateKey>> {
  const key = createPrivateKey(await readFile(file));
  if (key.asymmetricKeyType !== "ed25519")
    throw new Error(`${file} is no Ed25519 key: openssl genpkey -algorithm ed25519 makes one`);
  return key;
}

/**
 * Writes the checksums of all files of the folder, the signature over them, and the key that checks it. Whoever has that key from elsewhere needs
 * nothing else: `openssl pkeyutl -verify -pubin -inkey release-key.pub -rawin -in SHA256SUMS -sigfile SHA256SUMS.sig`, then `sha256sum --check`.
 */
export async function signFolder(
  folder: string,
  key: ReturnType<typeof createPrivateKey>,
): Promise<void> {
  const names = (await readdir(folder)).filter((name) => !OWN_FILES.has(name)).toSorted();
  const lines: string[] = [];
  for (const name of names) lines.push(`${await hashOf(join(folder, name))}  ${name}\n`);
  const sums = Buffer.from(lines.join(""));
  await writeFile(join(folder, SUMS), sums);
  await writeFile(join(folder, SIGNATURE), sign(null, sums, key));
  const publicKey = createPublicKey(key).export({ type: "spki", format: "pem" });
  await writeFile(join(folder, PUBLIC_KEY), publicKey);
}

/** What is wrong with a folder that {@link signFolder} wrote, by the key of whoever released it; empty if it is whole. */
export async function faultsOfFolder(folder: string, publicKey: string): Promise<string[]> {
  const sums = await readFile(join(folder, SUMS));
  const signature = await readFile(join(folder, SIGNATURE));
  if (!verify(null, sums, publicKey, signature)) return [`${SUMS} is not signed by this key`];
  const listed = new Map(
    sums
      .toString()
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => [line.slice(66), line.slice(0, 64)]),
  );
  const there = (await readdir(folder)).filter((name) => !OWN_FILES.has(name));
  const faults = there
    .filter((name) => !listed.has(name))
    .map((name) => `${name} is not in ${SUMS}`);
  for (const [name, hash] of listed) {
    if (!there.includes(name)) faults.push(`${name} is missing`);
    else if ((await hashOf(join(folder, name))) !== hash) faults.push(`${name} was changed`);
  }
  return faults;
}

async function hashOf(file: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(file), hash);
  return hash.digest("hex");
}
