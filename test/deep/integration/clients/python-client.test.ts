import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ClientWorld, ROOT, WALKED } from "./client-world.ts";

/** A virtual environment in which api/docs/clients/check.sh has just installed the packed client. */
const python = process.env["PYTHON_CLIENT"] ?? "";
const isThere = existsSync(python);
const missing = isThere
  ? ""
  : " - needs python3 with venv and packages of pip: run api/docs/clients/check.sh";

test.skipIf(!isThere)(
  `the packed Python client pages, reports, converts and waits after 429${missing}`,
  async () => {
    const world = await ClientWorld.open();
    try {
      const walk = join(ROOT, "test/deep/integration/clients/walk.py");
      expect(await world.runForJson(python, [walk, ...world.args])).toEqual(WALKED);
    } finally {
      await world.close();
    }
  },
  180_000,
);
