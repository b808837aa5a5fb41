import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { projectFile } from "../../schemas/host/project-root.ts";

const MIGRATION = /^(\d{4})_[a-z0-9]+(_[a-z0-9]+)*\.sql$/;

test.each(["postgres", "clickhouse"])(
  "the migrations of %s are numbered from 1 without a gap",
  (wire) => {
    const files = readdirSync(projectFile("schemas", wire, "migrations")).toSorted();
    expect(files.length).toBeGreaterThan(0);
    expect(files.filter((file) => !MIGRATION.test(file))).toEqual([]);
    const numbers = files.map((file) => Number(MIGRATION.exec(file)?.[1]));
    expect(numbers).toEqual(files.map((_, index) => index + 1));
  },
);
