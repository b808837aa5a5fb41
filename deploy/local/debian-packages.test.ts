import { describe, expect, test } from "vitest";
import { parseAptSources, readOsRelease, releasesToTry, sourceLine } from "./debian-packages.ts";

const BOOKWORM = readOsRelease('ID=debian\nVERSION_CODENAME=bookworm\nPRETTY_NAME="Debian 12"\n');
const TARGETS = `http://mirror.test/security/|bookworm-security|main|/etc/apt/a.sources:2
http://mirror.test/debian/|bookworm|main|/etc/apt/a.sources:1
http://mirror.test/debian/|bookworm|contrib|/etc/apt/a.sources:1

`;

describe("which releases are asked", () => {
  test.each([
    ["ID=debian\nVERSION_CODENAME=bookworm", ["trixie", "sid"]],
    ["ID=debian\nVERSION_CODENAME=trixie", ["trixie", "sid"]],
    ["ID=debian\nVERSION_CODENAME=forky", ["forky", "trixie", "sid"]],
    ["ID=debian", ["trixie", "sid"]],
    ['ID=raspbian\nID_LIKE="debian"\nVERSION_CODENAME=bookworm', ["trixie", "sid"]],
    ["ID=ubuntu\nID_LIKE=debian\nVERSION_CODENAME=jammy\nUBUNTU_CODENAME=jammy", ["noble"]],
    ['ID=linuxmint\nID_LIKE="ubuntu debian"\nUBUNTU_CODENAME=noble', ["noble"]],
  ])("%j asks %j", (osRelease, releases) => {
    expect(releasesToTry(readOsRelease(osRelease))).toEqual(releases);
  });
});

test("the mirror is the one the machine takes its own release from", () => {
  expect(sourceLine("trixie", parseAptSources(TARGETS), BOOKWORM, ["/keys.gpg"])).toBe(
    "deb [signed-by=/keys.gpg] http://mirror.test/debian/ trixie main\n",
  );
});

test("without a known keyring apt's own trust decides", () => {
  expect(sourceLine("trixie", parseAptSources(TARGETS), BOOKWORM, [])).toBe(
    "deb http://mirror.test/debian/ trixie main\n",
  );
});

test("a disc is no mirror, and a machine without one is told so", () => {
  const disc = parseAptSources("cdrom:[Debian]/|bookworm|main|/etc/apt/sources.list:1\n");
  expect(() => sourceLine("trixie", disc, BOOKWORM, [])).toThrow(/names no mirror/);
});
