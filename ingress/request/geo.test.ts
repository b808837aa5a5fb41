import { mkdtempSync, rmSync, unwatchFile, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { pino } from "pino";
import { expect, onTestFinished, test, vi } from "vitest";
import { AsnTable } from "./asn-table.ts";
import { openGeo, readCity } from "./geo.ts";
import { isHostingNetwork } from "./hosting-networks.ts";

const table = AsnTable.parse({
  v4: Buffer.from(
    '16777216,16777471,13335,"Cloudflare, Inc."\n16778240,16779263,38803,Gtelecom "X"\n',
  ),
  v6: Buffer.from(
    '42540488161975842760550356425300246528,42540488241204005274814694018844196863,6939,"The ""Six"" LLC"\n',
  ),
});

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
      const ranges = AsnTable.parse({ v4: Buffer.of(), v6: Buffer.from(lines.join("")) });
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

test("both common shapes of city records are read; any other is unknown", () => {
  expect(readCity({ country_code: "GB", state1: "England", city: "London", latitude: 1 })).toEqual({
    country: "GB",
    region: "England",
    city: "London",
  });
  const nested = {
    country: { iso_code: "GB" },
    subdivisions: [{ iso_code: "ENG", names: { en: "England" } }],
    city: { names: { en: "London", de: "London" } },
  };
  expect(readCity(nested)).toEqual({ country: "GB", region: "England", city: "London" });
  expect(readCity({ country: { iso_code: "GB" } })).toEqual({
    country: "GB",
    region: "",
    city: "",
  });
  expect(readCity(null)).toBeUndefined();
});

test("a data centre is recognised by its number or by its name", () => {
  expect(isHostingNetwork(16_509, "Amazon.com, Inc.")).toBe(true);
  expect(isHostingNetwork(64_512, "Pegboard Hosting Inc.")).toBe(true);
  expect(isHostingNetwork(64_512, "Unique Data Center")).toBe(true);
  expect(isHostingNetwork(3_320, "Deutsche Telekom AG")).toBe(false);
  expect(isHostingNetwork(13_335, "Cloudflare, Inc.")).toBe(false);
});

test("a database that is replaced in place answers with its old facts until the new one is whole", async () => {
  const folder = mkdtempSync(join(tmpdir(), "geo-"));
  const file = join(folder, "city.mmdb");
  onTestFinished(() => {
    unwatchFile(file);
    rmSync(folder, { recursive: true });
  });
  const lines: string[] = [];
  const log = pino({ level: "info" }, { write: (line) => lines.push(line) });
  writeFileSync(file, aDatabase("DE"));
  const geo = await openGeo({ cityDb: file, asnDb: file }, { log, checkMs: 20 });
  expect(geo.locate("192.0.2.1").country).toBe("DE");
  writeFileSync(file, aDatabase("FR").subarray(0, 60));
  await vi.waitFor(() => expect(lines.join("")).toContain("geo.not-readable"), 4_000);
  expect(geo.locate("192.0.2.2").country).toBe("DE");
  writeFileSync(file, aDatabase("FR"));
  await vi.waitFor(() => expect(geo.locate("192.0.2.1").country).toBe("FR"), 4_000);
});

/** An MMDB file that has every IPv4 address in one country: a tree of one node, whose two records are the same. */
function aDatabase(country: string): Buffer {
  const text = (value: string): Buffer =>
    Buffer.concat([Buffer.of(0x40 | value.length), Buffer.from(value)]);
  const numbers = { node_count: 1, record_size: 24, ip_version: 4, binary_format_major_version: 2 };
  const fields = Object.entries(numbers).flatMap(([name, n]) => [text(name), Buffer.of(0xa1, n)]);
  return Buffer.concat([
    Buffer.of(0, 0, 17, 0, 0, 17),
    Buffer.alloc(16),
    Buffer.of(0xe1),
    text("country_code"),
    text(country),
    Buffer.from("\xab\xcd\xefMaxMind.com", "latin1"),
    Buffer.of(0xe0 | (fields.length / 2)),
    ...fields,
  ]);
}
