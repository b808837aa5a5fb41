import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { operations } from "../../operations.ts";
import { buildOpenApi, buildOpenApiInTurns } from "./openapi.ts";

test("a document that is built in turns is the same, and other work runs between its operations", async () => {
  const options = { operations, baseUrl: "https://api.example/api/v1" };
  let isBuilt = false;
  let turns = 0;
  const building = buildOpenApiInTurns(options).finally(() => (isBuilt = true));
  while (!isBuilt) {
    await setImmediate();
    turns += 1;
  }
  expect(JSON.stringify(await building)).toBe(JSON.stringify(buildOpenApi(options)));
  expect(turns).toBeGreaterThanOrEqual(operations.length);
});
