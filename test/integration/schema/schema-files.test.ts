import { existsSync, readFileSync } from "node:fs";
import { expect, inject, test } from "vitest";
import { migrationFiles, STORES } from "../../../schemas/versions/migration-files.ts";
import { DUMP_COMMAND, dumpSchemas, SCHEMA_FILES } from "../../schema/schema-files.ts";
import { serverUrls } from "../../services/stores.ts";

const TIMEOUT_MS = 120_000;

test("tests work on copies of what the migrations make, and schema.sql shows several (issue 14, 11)", {
  timeout: TIMEOUT_MS,
}, async () => {
  const made = await dumpSchemas(serverUrls());
  expect(await dumpSchemas(serverUrls(), inject("template"))).toEqual(made);
  for (const store of STORES) {
    const file = SCHEMA_FILES[store];
    const written = existsSync(file) ? readFileSync(file, "utf8") : undefined;
    // One migration is the schema itself, so a second text could only differ from it.
    const wanted = migrationFiles(store).length > 1 ? made[store] : undefined;
    expect(written, `${file} is not current: run \`${DUMP_COMMAND}\``).toBe(wanted);
  }
});
