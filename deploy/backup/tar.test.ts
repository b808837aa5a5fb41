import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, expect, test } from "vitest";
import { makeSeal, sealPieces } from "./archive-seal.ts";
import { packFiles, unpackFiles } from "./tar.ts";

const PASSPHRASE = "seven-lamps-on-a-quay";
/** A guess takes 1 MiB. */
const CHEAP = 10;
let folder = "";

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tracker-tar-"));
  mkdirSync(join(folder, "from"));
  mkdirSync(join(folder, "to"));
  writeFileSync(join(folder, "from", "console.secret"), "the secret of second factors");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const archive = (): string => join(folder, "archive.tar.gz");

async function refusalOf(passphrase?: string): Promise<string> {
  const refused: unknown = await unpackFiles(archive(), join(folder, "to"), passphrase).catch(
    (error: unknown) => error,
  );
  expect(readdirSync(join(folder, "to"))).toEqual([]);
  return refused instanceof Error ? refused.message : "it was unpacked";
}

test("a sealed archive is unpacked with its passphrase only, and nothing is written without it", async () => {
  await packFiles(archive(), [join(folder, "from")], await makeSeal(PASSPHRASE, CHEAP));
  expect(await refusalOf()).toMatch(/is sealed, and no passphrase is given.*Nothing was restored/);
  expect(await refusalOf("eight-lamps-on-a-quay")).toMatch(/passphrase does not open.*Nothing was/);
  await unpackFiles(archive(), join(folder, "to"), PASSPHRASE);
  expect(readFileSync(join(folder, "to", "console.secret"), "utf8")).toContain("second factors");
});

test("an archive that is not sealed is not taken for one that the passphrase vouches for", async () => {
  await packFiles(archive(), [join(folder, "from")]);
  expect(await refusalOf(PASSPHRASE)).toMatch(/archive is not sealed: anybody may have made it/);
  await unpackFiles(archive(), join(folder, "to"));
  expect(readdirSync(join(folder, "to"))).toEqual(["console.secret"]);
});

test("what follows the end mark of tar is checked too, although tar does not wait for it", async () => {
  const { stdout } = spawnSync("tar", ["-cf", "-", "-C", join(folder, "from"), "."]);
  const compressed = gzipSync(Buffer.concat([stdout, randomBytes(3_000_000)]));
  const { header, key } = await makeSeal(PASSPHRASE, CHEAP);
  const parts = [header];
  for await (const piece of sealPieces(key)(Readable.from([compressed]))) parts.push(piece);
  const bytes = Buffer.concat(parts);
  writeFileSync(archive(), bytes);
  await unpackFiles(archive(), join(folder, "to"), PASSPHRASE);
  expect(readdirSync(join(folder, "to"))).toEqual(["console.secret"]);
  bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
  writeFileSync(archive(), bytes);
  await expect(unpackFiles(archive(), join(folder, "to"), PASSPHRASE)).rejects.toThrow(
    "its sealed piece 3 was changed",
  );
});

test("a sealed archive that was changed or cut off says so", async () => {
  await packFiles(archive(), [join(folder, "from")], await makeSeal(PASSPHRASE, CHEAP));
  const bytes = readFileSync(archive());
  writeFileSync(archive(), bytes.subarray(0, -1));
  expect(await refusalOf(PASSPHRASE)).toMatch(/cannot be read: its sealed piece 1 was changed/);
});
