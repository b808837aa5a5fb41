import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { faultsOfFolder, readSigningKey, signFolder } from "./signature.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tracker-release-"));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

function file(name: string, text: string): string {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
}

test("a signed release names each file that was changed, added or removed, and another signer", async () => {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const pem = publicKey.export({ type: "spki", format: "pem" }).toString();
  file("tracker.tar.gz", "program");
  file("chart.tgz", "chart");
  await signFolder(folder, privateKey);
  // Signing its own files again changes nothing.
  await signFolder(folder, privateKey);
  expect(readFileSync(join(folder, "SHA256SUMS"), "utf8")).toMatch(
    /^[0-9a-f]{64} {2}chart\.tgz\n[0-9a-f]{64} {2}tracker\.tar\.gz\n$/,
  );
  expect(readFileSync(join(folder, "release-key.pub"), "utf8")).toBe(pem);
  expect(await faultsOfFolder(folder, pem)).toEqual([]);
  file("tracker.tar.gz", "another program");
  file("more.txt", "");
  rmSync(join(folder, "chart.tgz"));
  expect(await faultsOfFolder(folder, pem)).toEqual([
    "more.txt is not in SHA256SUMS",
    "chart.tgz is missing",
    "tracker.tar.gz was changed",
  ]);
  const other = generateKeyPairSync("ed25519").publicKey.export({ type: "spki", format: "pem" });
  expect(await faultsOfFolder(folder, other.toString())).toEqual([
    "SHA256SUMS is not signed by this key",
  ]);
});

test("only an Ed25519 key signs a release", async () => {
  const pem = { type: "pkcs8", format: "pem" } as const;
  const right = generateKeyPairSync("ed25519").privateKey.export(pem).toString();
  expect((await readSigningKey(file("right.key", right))).asymmetricKeyType).toBe("ed25519");
  const wrong = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export(pem);
  await expect(readSigningKey(file("wrong.key", wrong.toString()))).rejects.toThrow("openssl");
});
