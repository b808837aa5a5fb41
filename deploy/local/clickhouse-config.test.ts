import { expect, test } from "vitest";
import { clickhouseConfig, clickhouseMemoryBytesMax } from "./clickhouse-config.ts";

const GIB = 1024 ** 3;

test.each([
  [1, 1],
  [4, 1.6],
  [16, 6.4],
  [64, 8],
])("on %d GiB of memory it takes at most %d", (machineGib, ownGib) => {
  expect(clickhouseMemoryBytesMax(machineGib * GIB)).toBe(Math.round(ownGib * GIB));
});

test("a folder with marks of XML in its name does not change the configuration", () => {
  const config = clickhouseConfig({
    folder: "/data/<a>&b",
    logFile: "/log",
    usersFile: "/users",
    bind: "127.0.0.1",
    port: 1,
    logins: 1,
    memoryBytesMax: 2,
    logBytesMax: 3,
  });
  expect(config).toContain("<path>/data/&#60;a&#62;&#38;b/store/</path>");
});
