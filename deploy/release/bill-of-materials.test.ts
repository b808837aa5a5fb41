import { expect, test } from "vitest";
import { installedPackages, readBom, withDebianPackages } from "./bill-of-materials.ts";

const ref = (name: string): string => `${name}@8.23.1`;
const PRINTED = JSON.stringify({
  bomFormat: "CycloneDX",
  specVersion: "1.5",
  serialNumber: "urn:uuid:00000000-0000-0000-0000-000000000000",
  metadata: {
    timestamp: "now",
    component: { "bom-ref": "the product", name: "some-folder", version: "0.2.0" },
  },
  components: ["pg", "of-another-machine"].map((name) => ({
    "bom-ref": ref(name),
    name,
    version: "8.23.1",
  })),
  dependencies: [
    { ref: "the product", dependsOn: [ref("pg"), ref("of-another-machine")] },
    { ref: ref("of-another-machine"), dependsOn: [] },
  ],
});
const DATE = "2026-11-28T00:00:00Z";
const isInstalled = (component: string): boolean => component === ref("pg");
const STATUS = `Package: libc6
Status: install ok installed
Architecture: amd64
Version: 2.41-12

Package: gone
Status: deinstall ok config-files
Architecture: amd64
Version: 1

Package: nodejs
Status: install ok installed
Architecture: amd64
Version: 20.19.2+dfsg-1
`;

test("the bill of a release has the time of its commit and a number of its own, the same each time", () => {
  const bom = readBom(PRINTED, DATE, isInstalled);
  expect(bom).toEqual(readBom(PRINTED.replace("now", "later"), DATE, isInstalled));
  expect(bom.metadata.timestamp).toBe(DATE);
  expect(bom.serialNumber).toMatch(
    /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/,
  );
  expect(bom).toMatchObject({
    metadata: { component: { name: "tracker" } },
    components: [{ name: "pg" }],
    dependencies: [{ ref: "the product", dependsOn: [ref("pg")] }],
  });
  expect(() => readBom("{}", DATE, isInstalled)).toThrow("metadata");
});

test("the bill of an image has the packages of its system as well", () => {
  const bom = readBom(PRINTED, DATE, isInstalled);
  const image = withDebianPackages(bom, STATUS);
  expect(image.components.map(({ name, version }) => `${name} ${version}`)).toEqual([
    "pg 8.23.1",
    "libc6 2.41-12",
    "nodejs 20.19.2+dfsg-1",
  ]);
  expect(image.components.at(-1)).toMatchObject({
    purl: "pkg:deb/debian/nodejs@20.19.2%2Bdfsg-1?arch=amd64",
  });
  expect(image.serialNumber).not.toBe(bom.serialNumber);
});

test("what is installed is what the lock lists and a folder has, under either name", () => {
  const lock = {
    packages: {
      "": { version: "0.2.0" },
      "node_modules/uws": { name: "@vendor/uws", version: "1.0.0" },
      "node_modules/a/node_modules/@b/c": { version: "2.0.0" },
      "node_modules/of-another-machine": { version: "3.0.0" },
    },
  };
  const found = installedPackages(JSON.stringify(lock), (folder) => !folder.includes("another"));
  expect([...found].toSorted()).toEqual(["@b/c@2.0.0", "@vendor/uws@1.0.0", "uws@1.0.0"]);
});
