import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { forThisFile } from "../../../services/for-this-file.ts";
import { ClientWorld, ROOT, WALKED } from "./client-world.ts";
import { TYPESCRIPT_WALK } from "./typescript-walk.ts";

const world = await forThisFile(ClientWorld.open());

const TSCONFIG = {
  compilerOptions: {
    target: "es2022",
    lib: ["es2023", "dom"],
    types: [],
    module: "nodenext",
    strict: true,
    exactOptionalPropertyTypes: true,
    outDir: "out",
  },
  files: ["walk.ts"],
};

test("the packed TypeScript client pages, reports, converts, waits after 429 and types it all", async () => {
  const env = { CLIENTS_FOLDER: world.folder };
  await world.run(join(ROOT, "api/docs/clients/pack.sh"), ["typescript"], env);
  await writeFile(join(world.folder, "package.json"), '{"type": "module", "private": true}');
  await writeFile(join(world.folder, "tsconfig.json"), JSON.stringify(TSCONFIG));
  await writeFile(join(world.folder, "walk.ts"), TYPESCRIPT_WALK);
  const install = ["install", "--offline", "--no-audit", "--no-fund"];
  await world.run("npm", [...install, "./affiliate-tracker-client-0.1.0.tgz"]);
  await world.run(process.execPath, [join(ROOT, "node_modules/typescript-7/bin/tsc"), "-p", "."]);
  expect(await world.runForJson(process.execPath, ["out/walk.js", ...world.args])).toEqual(WALKED);
}, 240_000);
