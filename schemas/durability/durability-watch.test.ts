import { expect, test } from "vitest";
import { openLog } from "../host/log.ts";
import { Metrics } from "../host/metrics.ts";
import { answerOf, type CheckGroup } from "./check-group.ts";
import { DurabilityWatch, NotDurableError } from "./durability-watch.ts";
import { alerts, type Fault, refuses, warns } from "./finding.ts";

const SILENT = openLog({ process: "test", level: "silent" });

function group(ask: CheckGroup["ask"], refusal?: string): CheckGroup {
  return { checks: ["P1"], server: "Postgres", ask, refusalOf: () => refusal };
}

function answering(...faults: Fault[]): CheckGroup {
  return group(async () => await Promise.resolve([{ check: "P1", faults }]));
}

/** The values of the metric after a start. */
async function started(one: CheckGroup): Promise<string[]> {
  const metrics = new Metrics();
  const watch = new DurabilityWatch([one], SILENT, metrics);
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
  expect(await started(group(fail))).toEqual([]);
  await expect(started(group(fail, "42501"))).rejects.toThrow(/^P1: Postgres refuses .*42501/);
});

test("a server that hangs leaves its checks unknown when the patience ends (P35)", async () => {
  const hanging = group(async () => await new Promise(() => undefined));
  const missing = "Postgres does not answer within 20 ms";
  expect(await answerOf(hanging, 20)).toEqual([{ check: "P1", faults: [], missing }]);
});
