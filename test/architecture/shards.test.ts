import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { projectFile } from "../../schemas/host/project-root.ts";
import { productSources } from "./source-files.ts";

/** Deletes rows by their part, on each node by itself. */
const ON_ONE_NODE = ["api/cli/audit/click-doubles.ts"];
/** Not the words of a sentence: "from click to payout". */
const CLICKS = /\b(?:from|join)\s+(?:click|impression)\b(?!\s+to\b)/i;
const COMMENT = /^\s*(?:\*|\/\/|\/\*)/;

test("no statement takes the clicks or impressions of one shard for all (#8)", () => {
  const sources = productSources();
  expect(sources.length).toBeGreaterThan(10);
  const found = sources.filter((path) => namesClicks(readFileSync(projectFile(path), "utf8")));
  expect(found).toEqual(ON_ONE_NODE);
});

test.each([
  ["const q = `select id from click where id = 1`;", true],
  ["const q = `select id\n  from impression\n  group by id`;", true],
  ["const q = `select a from offer join click on id = offer_id`;", true],
  ['const q = `select id from ${allShards(clickhouse, "click")}`;', false],
  ["const q = `select id from click_all`;", false],
  ["/** The time from click\n * from click to conversion */", false],
])("%j takes them from one shard: %s", (source, isOne) => {
  expect(namesClicks(source)).toBe(isOne);
});

function namesClicks(source: string): boolean {
  const code = source
    .split("\n")
    .filter((line) => !COMMENT.test(line))
    .join("\n");
  return CLICKS.test(code);
}
