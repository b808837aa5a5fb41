import { readFileSync } from "node:fs";
import { expect, inject, test } from "vitest";
import { DUMP_COMMAND, dumpSchemas, SCHEMA_FILES } from "../../schema/schema-files.ts";
import { serverUrls } from "../../services/stores.ts";

const TIMEOUT_MS = 120_000;

test.each([
  ["the result of their migrations", undefined],
  ["what tests work on, copies of the template", inject("template")],
] as const)(
  "schema.sql of both databases equals %s (issue 14, 11)",
  async (_what, template) => {
    const made = await dumpSchemas(serverUrls(), template);
    for (const wire of ["postgres", "clickhouse"] as const) {
      const file = SCHEMA_FILES[wire];
      expect(readFileSync(file, "utf8"), `${file} is not current: run \`${DUMP_COMMAND}\``).toBe(
        made[wire],
      );
    }
  },
  TIMEOUT_MS,
);
