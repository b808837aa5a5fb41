import fc from "fast-check";
import { expect, test } from "vitest";
import { ReportOracle } from "../../../integration/reports/report-oracle.ts";
import { ReportWorld } from "../../../integration/reports/report-world.ts";
import { forThisFile } from "../../../services/for-this-file.ts";
import { SEED } from "../../../system/seed.ts";

const RUNS = process.env["PROMISES_FULL"] === "1" ? 1_000 : 80;

const oracle = await ReportOracle.fill(await forThisFile(ReportWorld.open()));

async function agrees(request: Parameters<typeof oracle.answers>[0]): Promise<void> {
  const { found, expected } = await oracle.answers(request);
  expect(found).toEqual(expected);
}

test("every cell of any report equals a recount from the ledger, for every role (P13)", async () => {
  await fc.assert(fc.asyncProperty(oracle.anyRequest(false), agrees), {
    numRuns: RUNS,
    seed: SEED,
  });
}, 120_000);

test("and so does every cell of any comparison, with its other period and its change (P13)", async () => {
  await fc.assert(fc.asyncProperty(oracle.anyRequest(true), agrees), {
    numRuns: RUNS / 4,
    seed: SEED,
  });
}, 120_000);
