import { appendFile, mkdtemp, readFile, rm, truncate } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { aCatalog, apply } from "../../test/samples/a-catalog.ts";
import { Catalog } from "../catalog/catalog.ts";
import { DiskCopy } from "./disk-copy.ts";

const AT = { version: 7, mark: "0b1c6b0e-2f0a-4d7c-9a55-1f2f3c4d5e6f" };
const LATER = { version: 9, mark: "5d8b9c3a-77f1-4a40-8f0e-6a1b2c3d4e5f" };

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "disk-copy-"));
  path = join(folder, "catalog.ndjson");
});
afterEach(() => rm(folder, { recursive: true, force: true }));

function manyAccess(count: number): { offer_id: number; affiliate_id: number }[] {
  return Array.from({ length: count }, (_, i) => ({ offer_id: 1 + (i % 50), affiliate_id: 1 + i }));
}

async function readBack(): Promise<Catalog | undefined> {
  const catalog = new Catalog();
  const state = await new DiskCopy(path).read((page) => catalog.apply(page));
  return state === undefined ? undefined : catalog;
}

function contentOf(catalog: Catalog | undefined): string[] {
  const entries = [...(catalog?.entries(0) ?? [])];
  return entries.map((entry) => JSON.stringify(entry)).sort();
}

test("the copy on disk gives back the catalog, with every change that was added to it", async () => {
  const catalog = aCatalog({
    access: manyAccess(640),
    smartLinks: [{ code: "S" }],
    blocklist: ["bad.example"],
    workspaceBlocklist: [{ entry: "worse.example", workspace_id: 1 }],
    groups: [{ offer_ids: [1] }],
  });
  const copy = new DiskCopy(path);
  expect(copy.mustBeReplaced).toBe(true);
  await copy.replace(catalog.entries(catalog.version), AT);
  expect(contentOf(await readBack())).toEqual(contentOf(catalog));
  const changed = { ...catalog.offers.get(1), code: "OTHER" };
  apply(catalog, { offers: [changed] });
  const offers = [...catalog.entries(catalog.version)].filter(({ kind }) => kind === "offer");
  await copy.add(offers, AT);
  const gone = {
    kind: "offer_access" as const,
    id: "1-1",
    record: null,
    version: catalog.version + 1,
  };
  catalog.apply([gone]);
  await copy.add([gone], AT);
  expect(copy.mustBeReplaced).toBe(false);
  const back = await readBack();
  expect(back?.version).toBe(catalog.version);
  expect(back?.accessOf(1, 1)).toBeUndefined();
  expect(contentOf(back)).toEqual(contentOf(catalog));
});

test("an addition that was cut off is left out, and the next one makes the file anew", async () => {
  const catalog = aCatalog();
  const copy = new DiskCopy(path);
  await copy.replace(catalog.entries(catalog.version), AT);
  const whole = (await readFile(path)).length;
  await copy.add([...catalog.entries(catalog.version + 1)], AT);
  const withAddition = (await readFile(path)).length;
  for (const size of [whole, whole + 1, withAddition - 1, whole - 1]) {
    await truncate(path, withAddition);
    await truncate(path, size);
    const back = await readBack();
    expect(contentOf(back), String(size)).toEqual(size >= whole ? contentOf(catalog) : []);
    const reader = new DiskCopy(path);
    await reader.read(() => undefined);
    expect(reader.mustBeReplaced, String(size)).toBe(size !== whole);
    await copy.replace(catalog.entries(catalog.version), AT);
    await copy.add([...catalog.entries(catalog.version + 1)], AT);
  }
});

test("a copy that cannot be read to its end is no copy, and neither is none", async () => {
  expect(await readBack()).toBeUndefined();
  const catalog = aCatalog();
  await new DiskCopy(path).replace(catalog.entries(catalog.version), AT);
  await appendFile(path, '{"kind":"offer","id":"9","ver\n{"end":true}\n');
  expect(await readBack()).toBeUndefined();
});

test("a copy says how far it goes, whatever was added to it (#6, G206)", async () => {
  const catalog = aCatalog();
  const copy = new DiskCopy(path);
  const position = async (): Promise<unknown> =>
    (await new DiskCopy(path).read(() => undefined))?.position;
  await copy.replace(catalog.entries(catalog.version), AT);
  expect(await position()).toEqual(AT);
  await copy.add([...catalog.entries(catalog.version + 1)], LATER);
  expect(await position()).toEqual(LATER);
  await copy.replace(catalog.entries(catalog.version), undefined);
  expect(await position()).toBeUndefined();
});

test("behind additions of an older release a copy does not say how far it goes (#6)", async () => {
  const catalog = aCatalog();
  const copy = new DiskCopy(path);
  await copy.replace(catalog.entries(catalog.version), AT);
  await copy.add([...catalog.entries(catalog.version + 1)], undefined);
  const state = await new DiskCopy(path).read(() => undefined);
  expect(state).toEqual({ position: undefined, skipped: 0 });
  expect(contentOf(await readBack())).toEqual(contentOf(catalog));
});

test("a record that this release cannot read costs the copy nothing else (#10)", async () => {
  const catalog = aCatalog();
  await new DiskCopy(path).replace(catalog.entries(catalog.version), AT);
  await appendFile(path, '{"kind":"offer","id":"9","version":9,"record":{}}\n{"end":true}\n');
  const state = await new DiskCopy(path).read(() => undefined);
  expect(state).toEqual({ position: undefined, skipped: 1 });
  expect(contentOf(await readBack())).toEqual(contentOf(catalog));
});

test("between two parts of an addition the event loop serves requests", async () => {
  const catalog = aCatalog();
  const copy = new DiskCopy(path);
  await copy.replace(catalog.entries(catalog.version), AT);
  const [offer] = [...catalog.entries(catalog.version)].filter(({ kind }) => kind === "offer");
  let [inTurn, inTurnMax, turn] = [0, 0, setImmediate(() => undefined)];
  const toJSON = (): object => {
    inTurn += 1;
    inTurnMax = Math.max(inTurnMax, inTurn);
    return { ...offer };
  };
  const nextTurn = (): void => {
    inTurn = 0;
    turn = setImmediate(nextTurn);
  };
  nextTurn();
  const counted = Object.assign({}, offer, { toJSON });
  await copy.add(
    Array.from({ length: 5_000 }, () => counted),
    AT,
  );
  clearImmediate(turn);
  expect(inTurnMax).toBeGreaterThan(0);
  // Two parts at most: about 2 ms.
  expect(inTurnMax).toBeLessThanOrEqual(500);
});

test("additions without end lead to a new copy", async () => {
  const catalog = aCatalog({ affiliates: [{ name: "x".repeat(60_000) }] });
  const copy = new DiskCopy(path);
  await copy.replace(catalog.entries(catalog.version), AT);
  let additions = 0;
  while (!copy.mustBeReplaced && additions < 1_000) {
    await copy.add([...catalog.entries(catalog.version)], AT);
    additions += 1;
  }
  expect(additions).toBeGreaterThan(10);
  expect(additions).toBeLessThan(30);
});
