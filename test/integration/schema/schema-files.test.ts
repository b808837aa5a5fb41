import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { DUMP_COMMAND, dumpSchemas, SCHEMA_FILES } from "../../schema/schema-files.ts";
import { serverUrls } from "../../services/stores.ts";

const TIMEOUT_MS = 120_000;

test(
  "schema.sql of both databases is what their migrations make (issue 14, 11)",
  async () => {
    const made = await dumpSchemas(serverUrls());
    for (const wire of ["postgres", "clickhouse"] as const) {
      const file = SCHEMA_FILES[wire];
      expect(readFileSync(file, "utf8"), `${file} is not current: run \`${DUMP_COMMAND}\``).toBe(
        made[wire],
      );
    }
  },
  TIMEOUT_MS,
);
