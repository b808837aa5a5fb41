import { describe, expect, test } from "vitest";
import { quietestRun, readRuns } from "../../figures/run-file.ts";
import { CODE } from "../code-limits.ts";
import { knownInputs } from "../known-inputs.ts";
import { oneMachine } from "../one-machine.ts";
import { verdictOf } from "../print-capacity.ts";
import { checkBySimulation, pipelineOf } from "../simulation.ts";
import { type PipelineOptions, simulatePipeline } from "./pipeline-model.ts";

const inputs = knownInputs();
const TODAY = { lanes: CODE.lanes, streams: CODE.streams };
const seed = 11;

function small(more: Partial<PipelineOptions>): PipelineOptions {
  return { ...pipelineOf(20_000, TODAY, inputs), seconds: 4, seed, ...more };
}

test("the same seed gives the same run, another seed another one", () => {
  expect(simulatePipeline(small({}))).toEqual(simulatePipeline(small({})));
  expect(simulatePipeline(small({ seed: 12 }))).not.toEqual(simulatePipeline(small({})));
});

test("every click is stored once while all stages keep up", () => {
  const { storedPerSecond } = simulatePipeline(small({ seconds: 10 }));
  expect(Math.abs(storedPerSecond / 20_000 - 1)).toBeLessThan(0.03);
});

describe("a stage that is too slow is always busy and passes on what it can", () => {
  test("ingress", () => {
    const { stages, storedPerSecond } = simulatePipeline(small({ workers: 1, redirectUs: 100 }));
    expect(stages[0]?.utilisation).toBeGreaterThan(0.99);
    expect(Math.abs(storedPerSecond / 10_000 - 1)).toBeLessThan(0.05);
  });

  test("the stream, whose messages are then full", () => {
    const { stages, messagesPerSecond } = simulatePipeline(small({ streamMs: () => 50 }));
    expect(stages[1]?.utilisation).toBeGreaterThan(0.99);
    expect(messagesPerSecond).toBeCloseTo(20, 0);
  });

  test("the writers", () => {
    const { stages, storedPerSecond } = simulatePipeline(
      small({ writerProcesses: 1, rowUs: 100, seconds: 10 }),
    );
    expect(stages[2]?.utilisation).toBeGreaterThan(0.99);
    expect(Math.abs(storedPerSecond / 10_000 - 1)).toBeLessThan(0.1);
  });

  test("the inserts, for which each lane then keeps four batches at most", () => {
    const { stages, storedPerSecond, unstoredRowsMost } = simulatePipeline(
      small({ insertMs: (rows) => rows * 0.4, seconds: 60 }),
    );
    // 2,500 rows/s a lane; the hottest of four lanes gets 8,000, the others 4,000.
    expect(stages[4]?.utilisation).toBeGreaterThan(0.95);
    expect(storedPerSecond).toBeLessThan(11_000);
    // 340,000 rows are left over; a batch is full at 32 MiB of 891 B, and takes the whole of its last message.
    const rowsOfBatch = CODE.insertBytesMax / inputs.recordBytes + CODE.messageRecordsMax;
    expect(unstoredRowsMost).toBeGreaterThan(2 * rowsOfBatch);
    expect(unstoredRowsMost).toBeLessThanOrEqual((CODE.batchesWaitingMax + 1) * rowsOfBatch);
  });
});

test.each([1_000, 10_000, 100_000])("model and arithmetic agree at %d clicks/s", (peak) => {
  const { stages } = checkBySimulation(peak, TODAY, { inputs, seed });
  const verdicts = stages.map((stage, at) => [stage.stage, verdictOf(stage, stages.slice(0, at))]);
  expect(verdicts).toEqual(stages.map(({ stage }) => [stage, "agrees"]));
});

test("a second of a million clicks takes less than a million events", () => {
  const options = { ...pipelineOf(1_000_000, TODAY, inputs), seconds: 1, warmUpSeconds: 0, seed };
  expect(simulatePipeline(options).events).toBeLessThan(200_000);
});

describe("the model of one machine against the pipeline bench", () => {
  /** The bench has its load generator on the same two cores, the model has none. */
  const FACTOR = 1.5;
  const sustained = quietestRun(readRuns(), "sustainedClicksPerSecond");
  const measured = sustained?.figures.sustainedClicksPerSecond ?? Number.NaN;
  const cores = sustained?.machine.cores ?? 0;

  test("it stores the sustained rate divided by the factor, and not that rate times the factor", () => {
    const stored = (rate: number): number =>
      simulatePipeline({ ...oneMachine(rate, cores, inputs), seed }).storedPerSecond;
    expect(stored(measured / FACTOR)).toBeGreaterThan((0.97 * measured) / FACTOR);
    expect(stored(measured * FACTOR)).toBeLessThan(measured * FACTOR * 0.9);
  });

  test("at twice the rate it stores as much as was measured, within the factor", () => {
    const { storedPerSecond } = simulatePipeline({
      ...oneMachine(2 * measured, cores, inputs),
      seed,
    });
    expect(storedPerSecond).toBeGreaterThan(measured / FACTOR);
    expect(storedPerSecond).toBeLessThan(measured * FACTOR);
  });
});
