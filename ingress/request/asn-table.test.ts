import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { pino } from "pino";
import { expect, onTestFinished, test } from "vitest";
import { projectFile } from "../../schemas/host/project-root.ts";
import { parseAsnCsv } from "./asn-csv.ts";
import { type AsnSource, readAsnFile, writeAsnFile } from "./asn-file.ts";
import { type AsnColumns, AsnTable } from "./asn-table.ts";
import { ASN_FILE, installedAsnSource, openAsnTable, parseAsnSource } from "./open-asn-table.ts";

const CSV = {
  v4: Buffer.from(
    '16777216,16777471,13335,"Cloudflare, Inc."\n16778240,16779263,38803,Gtelecom "X"\n',
  ),
  v6: Buffer.from(
    '42540488161975842760550356425300246528,42540488241204005274814694018844196863,6939,"The ""Six"" LLC"\n',
  ),
};
const table = new AsnTable(parseAsnCsv(CSV));

test("an address belongs to the range that contains it, both ends included, and to none between ranges", () => {
  expect(table.find("1.0.0.0")).toEqual({ asn: 13_335, name: "Cloudflare, Inc." });
  expect(table.find("1.0.0.255")?.asn).toBe(13_335);
  expect(table.find("1.0.4.0")?.name).toBe('Gtelecom "X"');
  for (const ip of ["0.0.0.0", "1.0.1.0", "255.255.255.255", "", "::"]) {
    expect(table.find(ip), ip).toBeUndefined();
  }
  expect(table.find("2001::")).toEqual({ asn: 6_939, name: 'The "Six" LLC' });
  expect(table.find("2000:ffff::")).toBeUndefined();
});

test("every IPv6 range is read exactly: its one address is found, and both neighbours are not", () => {
  const address = fc.bigInt({ min: 1n, max: 2n ** 128n - 2n });
  fc.assert(
    fc.property(fc.uniqueArray(address, { minLength: 1, maxLength: 20 }), (numbers) => {
      const ascending = numbers.toSorted((a, b) => (a < b ? -1 : 1));
      const lines = ascending.map((number, at) => `${number},${number},${at + 1},Name ${at + 1}\n`);
      const csv = { v4: Buffer.of(), v6: Buffer.from(lines.join("")) };
      const ranges = new AsnTable(parseAsnCsv(csv));
      const asked = ascending.flatMap((number) => [number - 1n, number, number + 1n]);
      const found = asked.map((number) => ranges.find(ipv6Of(number))?.name ?? "");
      const places = asked.map((number) => ascending.indexOf(number) + 1);
      expect(found).toEqual(places.map((place) => (place === 0 ? "" : `Name ${place}`)));
    }),
  );
});

function ipv6Of(number: bigint): string {
  return number
    .toString(16)
    .padStart(32, "0")
    .replaceAll(/(.{4})(?!$)/g, "$1:");
}

/** A source with the lines above and a place for its file. */
function onDisk(): { readonly source: AsnSource; readonly file: string } {
  const folder = mkdtempSync(join(tmpdir(), "asn-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const source = { v4: join(folder, "v4.csv"), v6: join(folder, "v6.csv"), version: "1.0.0" };
  writeFileSync(source.v4, CSV.v4);
  writeFileSync(source.v6, CSV.v6);
  return { source, file: join(folder, ASN_FILE) };
}

/** Opens the table, and returns what it answers with the warnings of its log. */
async function opened(
  options: ReturnType<typeof onDisk>,
): Promise<{ readonly names: readonly string[]; readonly warnings: readonly string[] }> {
  const warnings: string[] = [];
  const log = pino({ level: "warn" }, { write: (line) => warnings.push(line) });
  const found = await openAsnTable({ ...options, log });
  const names = ["1.0.0.7", "1.0.4.9", "2001::1", "9.9.9.9"].map(
    (ip) => found.find(ip)?.name ?? "",
  );
  return { names, warnings };
}

const NAMES = ["Cloudflare, Inc.", 'Gtelecom "X"', 'The "Six" LLC', ""];

test("the written file answers as the CSV files do, and a start with it warns of nothing", async () => {
  const { source, file } = onDisk();
  const columns = parseAsnCsv(CSV);
  writeAsnFile(file, source, columns);
  expect(readAsnFile(file, source)).toEqual(columns);
  expect(await opened({ source, file })).toEqual({ names: NAMES, warnings: [] });
});

test("a missing, cut, damaged or stale file is not used: one warning, and the answers of the CSV files", async () => {
  const { source, file } = onDisk();
  const columns = parseAsnCsv(CSV);
  const whole = (version = source.version): Buffer => {
    writeAsnFile(file, { ...source, version }, columns);
    return readFileSync(file);
  };
  const faults: readonly [said: string, spoil: () => void][] = [
    ["ENOENT", () => rmSync(file, { force: true })],
    ["the file is incomplete", () => truncateSync(file, 0)],
    ["the file is incomplete", () => truncateSync(file, 63)],
    ["the file is incomplete", () => truncateSync(file, whole().length - 1)],
    ["the file is damaged", () => writeFileSync(file, whole().fill(0, 100, 104))],
    ["the file has another format", () => writeFileSync(file, whole().fill(0, 0, 1))],
    ["the file was made from other CSV files", () => whole("1.0.1")],
    ["the file was made from other CSV files", () => writeFileSync(source.v4, CSV.v4.subarray(1))],
  ];
  for (const [said, spoil] of faults) {
    whole();
    spoil();
    const { names, warnings } = await opened({ source, file });
    expect(warnings, said).toEqual([expect.stringContaining(said)]);
    expect(warnings[0]).toContain("npm run build");
    expect(names.slice(1), said).toEqual(NAMES.slice(1));
  }
});

test("the file of the build has every range and name of the installed CSV files", async () => {
  const source = installedAsnSource();
  const built = readAsnFile(projectFile(".build", ASN_FILE), source);
  const parsed = await parseAsnSource(source);
  expect(built.v4Asn.length).toBeGreaterThan(400_000);
  const [ofBuilt, ofParsed] = [built, parsed].map(contentOf);
  expect(ofBuilt).toEqual(ofParsed);
});

/** Digests, because a comparison of millions of elements takes minutes. */
function contentOf(columns: AsnColumns): Record<string, string> {
  const digest = ({ buffer, byteOffset, byteLength }: ArrayBufferView): string =>
    createHash("sha256")
      .update(new Uint8Array(buffer, byteOffset, byteLength))
      .digest("hex");
  return Object.fromEntries(
    Object.entries(columns).map(([name, column]) => [name, digest(column)]),
  );
}
