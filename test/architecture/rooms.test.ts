import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { projectFile } from "../../schemas/host/project-root.ts";
import { readImports } from "../tiers/import-graph.ts";
import {
  API_ROOMS,
  CLICK_ROOMS,
  CONVERSION_ROOMS,
  importsOfTop,
  mutualFolders,
  upwardImports,
} from "./rooms.ts";

const ORDERED = [
  { parent: "api", rooms: API_ROOMS },
  { parent: "processors/conversions", rooms: CONVERSION_ROOMS },
  { parent: "processors/clicks", rooms: CLICK_ROOMS },
];

test.each(ORDERED)("a folder of $parent imports only folders below it", ({ parent, rooms }) => {
  expect(upwardImports(parent, rooms, readImports())).toEqual([]);
});

test.each(ORDERED)("every folder of $parent has its place in the order", ({ parent, rooms }) => {
  const folders = readdirSync(projectFile(parent), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
  expect(folders.toSorted()).toEqual(rooms.toSorted());
});

test("no room of the api imports what puts the rooms together", () => {
  expect(importsOfTop("api", readImports())).toEqual([]);
});

test("no two folders of a process import each other", () => {
  const product = Object.entries(readImports()).filter(([path]) =>
    /^(ingress|processors|api)\//.test(path),
  );
  expect([...mutualFolders(Object.fromEntries(product))]).toEqual([]);
});

test("an import upwards, of a file beside the folders, or both ways is found", () => {
  const imports = {
    "api/http/a.ts": ["api/catalog/b.ts", "api/operation/c.ts"],
    "api/catalog/b.ts": ["api/http/a.ts", "api/main.ts"],
    "api/catalog/b.test.ts": ["api/cli/d.ts"],
    "api/main.ts": ["api/cli/d.ts"],
  };
  expect(upwardImports("api", API_ROOMS, imports)).toEqual([
    { from: "api/http/a.ts", to: "api/catalog/b.ts" },
  ]);
  expect(importsOfTop("api", imports)).toEqual([{ from: "api/catalog/b.ts", to: "api/main.ts" }]);
  expect([...mutualFolders(imports).keys()]).toEqual(["api/catalog and api/http"]);
});
