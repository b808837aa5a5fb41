import { expect, test } from "vitest";
import { openLog } from "./log.ts";

test("a secret is not in a log, at the top or up to three levels below (P31)", () => {
  const lines: string[] = [];
  const log = openLog({ process: "test", level: "info" }, { write: (line) => lines.push(line) });
  log.info(
    { token: "sec-0", a: { key: "sec-1", b: { email: "sec-2", c: { query: "sec-3", id: 7 } } } },
    "test.done",
  );
  expect(lines.join("")).toContain('"id":7');
  expect(lines.join("")).not.toContain("sec-");
});
