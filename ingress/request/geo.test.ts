import { mkdtempSync, rmSync, unwatchFile, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { expect, onTestFinished, test, vi } from "vitest";
import { openGeo, readCity } from "./geo.ts";
import { isHostingNetwork } from "./hosting-networks.ts";

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
