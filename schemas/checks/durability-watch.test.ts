import { expect, test } from "vitest";
import { RELAXED } from "../../test/samples/durability.ts";
import { openLog } from "../host/log.ts";
import { Metrics } from "../host/metrics.ts";
import { DURABILITY_CHECKS } from "../host/process-metrics.ts";
import { type Check, findingsOf, type Question } from "./check.ts";
import { CHECKS, checksAt } from "./checks.ts";
import { DurabilityWatch, NotDurableError } from "./durability-watch.ts";
import { alerts, type Fault, refuses, warns } from "./finding.ts";

const SILENT = openLog({ process: "test", level: "silent" });

function check(ask: Question<readonly Fault[]>["ask"], refusal?: string): Check<readonly Fault[]> {
  return {
    id: "P1",
    ask: { server: "Postgres", ask, refusalOf: () => refusal },
    judge: (faults) => ({ faults }),
    remedy: "repair it",
    at: ["start"],
  };
}

function answering(...faults: Fault[]): Check {
  return check(() => Promise.resolve(faults));
}

/** The values of the metric after a start. */
async function started(one: Check): Promise<string[]> {
  const metrics = new Metrics();
  const watch = new DurabilityWatch([one], { durability: RELAXED }, { log: SILENT, metrics });
  await watch.start();
  const lines = metrics.render().split("\n");
  await watch.close();
  return lines.filter((line) => line.includes("durability_violation{"));
}

test("a refusing fault stops a start with its sentence; others show in the metric only (P35)", async () => {
  const start = started(answering(refuses("Postgres is wrong: repair it."), alerts("Late.")));
  await expect(start).rejects.toThrow(new NotDurableError(["P1: Postgres is wrong: repair it."]));
  const one = 'tracker_durability_violation{check="P1"} 1';
  expect(await started(answering(alerts("Its standby is away: start it.")))).toEqual([one]);
  const none = 'tracker_durability_violation{check="P1"} 0';
  expect(await started(answering(warns("Slow.")))).toEqual([none]);
});

test("a server that is away leaves its checks unknown, and one that refuses violates them (P35)", async () => {
  const fail = async (): Promise<never> => await Promise.reject(new Error("no"));
  expect(await started(check(fail))).toEqual([]);
  await expect(started(check(fail, "42501"))).rejects.toThrow(/^P1: Postgres refuses .*42501/);
});

test("a server that hangs leaves its checks unknown when the patience ends (P35)", async () => {
  const hanging = check(() => new Promise(() => undefined));
  const missing = "Postgres does not answer within 20 ms";
  expect(await findingsOf([hanging], { durability: RELAXED }, 20)).toEqual([
    { check: hanging, faults: [], missing },
  ]);
});

test("the remedy of a check ends a sentence that has no end of its own (P35)", async () => {
  const start = started(answering(refuses("Postgres is wrong")));
  await expect(start).rejects.toThrow(new NotDurableError(["P1: Postgres is wrong: repair it."]));
});

test("checks with one question ask once, and a check without its source is left out (P35)", async () => {
  let asked = 0;
  const one = check(() => Promise.resolve([alerts(`Asked ${(asked += 1)} times.`)]));
  const findings = await findingsOf(
    [one, { ...one, id: "P2" }, check(() => undefined)],
    { durability: RELAXED },
    1_000,
  );
  expect(findings.map((finding) => [finding.check.id, finding.faults[0]?.sentence])).toEqual([
    ["P1", "Asked 1 times."],
    ["P2", "Asked 1 times."],
  ]);
});

test("the metric names each check of a start, and every check has an id of its own (P35)", () => {
  expect(
    checksAt("start")
      .map(({ id }) => id)
      .sort(),
  ).toEqual(DURABILITY_CHECKS.toSorted());
  expect(new Set(CHECKS.map(({ id }) => id)).size).toBe(CHECKS.length);
});
