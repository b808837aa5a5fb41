import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { z } from "zod";
import { projectFile } from "../../schemas/host/project-root.ts";

const Lock = z.object({
  packages: z.record(
    z.string(),
    z.looseObject({ integrity: z.string().optional(), link: z.boolean().optional() }),
  ),
});

// npm accepts any bytes for a package without a hash. `npm install` writes no hash for a package of another platform
// when the registry in use does not serve that package.
test("every locked package has a SHA-512 hash, on every platform (#27)", () => {
  const { packages } = Lock.parse(
    JSON.parse(readFileSync(projectFile("package-lock.json"), "utf8")),
  );
  const locked = Object.entries(packages).filter(([path, { link }]) => path !== "" && !link);
  expect(locked.length).toBeGreaterThan(300);
  const unverified = locked.filter(([, { integrity }]) => !integrity?.startsWith("sha512-"));
  expect(unverified.map(([path]) => path)).toEqual([]);
});
