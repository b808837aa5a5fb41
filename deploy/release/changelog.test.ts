import { expect, test } from "vitest";
import { CHANGELOG_HEAD, releaseSection, withSection } from "./changelog.ts";
import { compareVersions, newestVersion, parseVersion } from "./version.ts";

const SUBJECTS = [
  "Ingress: answers HEAD",
  "Tests: the storm waits",
  "Merge branch 'reports'",
  "A sentence without an area",
  "Reports: a row that names a currency: its money",
  "Ingress: keeps the journal",
];

test("a changelog has the changes of each release by what they are about, without those of tests", () => {
  const section = releaseSection("0.2.0", "2026-11-28", SUBJECTS);
  expect(section).toBe(`
## 0.2.0, 2026-11-28

### Ingress

- keeps the journal
- answers HEAD

### Other

- A sentence without an area

### Reports

- a row that names a currency: its money
`);
  const first = withSection("", releaseSection("0.1.0", "2026-11-01", undefined));
  expect(first).toBe(`${CHANGELOG_HEAD}\n## 0.1.0, 2026-11-01\n\nThe first release.\n`);
  const both = withSection(first, section);
  expect(both.match(/^## .*/gm)).toEqual(["## 0.2.0, 2026-11-28", "## 0.1.0, 2026-11-01"]);
  expect(() => withSection("# Notes\n", section)).toThrow("does not begin");
  expect(releaseSection("0.2.1", "2026-11-28", ["Tests: more"])).toContain("Nothing that is seen");
});

test("versions are three numbers that are compared as numbers", () => {
  expect(parseVersion("v1.20.3")).toEqual([1, 20, 3]);
  for (const wrong of ["1.2", "1.2.3-rc1", "01.2.3", "1.2.3.4", "", "latest"])
    expect(parseVersion(wrong)).toBeUndefined();
  expect(compareVersions([1, 10, 0], [1, 9, 9])).toBeGreaterThan(0);
  expect(newestVersion(["v0.9.0", "other", "v0.10.0", "v0.2.0"])).toEqual([0, 10, 0]);
  expect(newestVersion(["other"])).toBeUndefined();
});
