import { expect, test } from "vitest";
import { AsnTable } from "./asn-table.ts";
import { readCity } from "./geo.ts";
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
