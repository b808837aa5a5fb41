import type { BenchRun } from "../figures/bench-run.ts";
import { readRuns, thisMachine } from "../figures/run-file.ts";
import { neededLanes } from "./arithmetic.ts";
import { firstLimits, limitTable, PEAKS, priceTable, quantityTable } from "./arithmetic-tables.ts";
import { CODE } from "./code-limits.ts";
import { type Inputs, inputsOf, type Origin, readOrigins } from "./inputs.ts";
import { readPriceList } from "./price.ts";
import {
  checkBySimulation,
  type Layout,
  type SimulationCheck,
  type StageCheck,
} from "./simulation.ts";
import { amountText, renderTable, type Table, wrapped } from "./text-table.ts";

const MS_PER_DAY = 86_400_000;
const DEFAULT_SEED = 1;
/** Arithmetic and model must agree within this share, while a stage keeps up. */
const TOLERANCE = 0.1;
/** From here on the model's threads are never idle; arithmetic says how much is missing. */
const SATURATED = 0.97;
/** Below this share the difference is compared with this share: waits for the first record make small shares uncertain. */
const EXPECTED_MIN = 0.2;

/** Prints the tables of capacity from the figures of the quietest machines, and checks them with the model. */
export function printCapacity(): void {
  const origins = readOrigins(readRuns(), thisMachine());
  const prices = readPriceList(process.env["PRICE_LIST"]);
  const seed = Number(process.env["SEED"] ?? DEFAULT_SEED);
  for (const line of capacityText({ origins, prices, seed, nowMs: Date.now() })) console.log(line);
}

/** Lines of at most 100 characters. */
export function* capacityText({
  origins,
  prices,
  seed,
  nowMs,
}: {
  readonly origins: readonly Origin[];
  readonly prices: ReturnType<typeof readPriceList>;
  readonly seed: number;
  readonly nowMs: number;
}): Generator<string> {
  const inputs = inputsOf(origins);
  yield wrapped(
    "Inputs. m: measured on this kind of machine; e: measured elsewhere; a: assumed. busy: cores that other programs took",
  );
  yield renderTable(inputTable(origins, nowMs));
  yield "";
  yield* arithmeticText(inputs, prices);
  yield wrapped(
    `Model of the pipeline, SEED=${seed}, some seconds after a warm-up. It must agree with the arithmetic within ${TOLERANCE * 100} %, or ${amountText(TOLERANCE * EXPECTED_MIN)} of a busy share.`,
  );
  for (const { peak, layout } of simulatedCases(inputs)) {
    yield "";
    yield simulationText(checkBySimulation(peak, layout, { inputs, seed }));
  }
}

/** What the formulas say, with an empty line at the end. */
export function* arithmeticText(
  inputs: Inputs,
  prices: ReturnType<typeof readPriceList>,
): Generator<string> {
  yield "What an installation needs";
  yield renderTable(quantityTable(inputs));
  yield "";
  yield "Limits, and what raises them";
  yield renderTable(limitTable(inputs));
  yield "";
  yield "What breaks first at each peak";
  for (const line of firstLimits(inputs)) yield wrapped(line);
  yield "";
  yield wrapped(
    "Price, without reports, reserves, copies of ClickHouse and people. PRICE_LIST=<file> replaces the list.",
  );
  yield renderTable(priceTable(inputs, prices));
  yield "";
}

function inputTable(origins: readonly Origin[], nowMs: number): Table {
  return {
    head: ["input", "value", "", "", "days old", "busy", "bench"],
    rows: origins.map(({ meaning, value, unit, mark, run }) => [
      meaning,
      amountText(value),
      unit,
      { "measured here": "m", "measured elsewhere": "e", assumed: "a" }[mark],
      run === undefined ? "" : String(Math.floor((nowMs - Date.parse(run.date)) / MS_PER_DAY)),
      run === undefined ? "" : busyText(run),
      run === undefined
        ? ""
        : `${run.bench}, ${run.machine.cores} × ${run.machine.processor}`.slice(0, 25),
    ]),
  };
}

/** Cores that other programs kept busy when it was measured. */
function busyText({ busy, load }: BenchRun): string {
  const cores = busy ?? load;
  return cores === undefined ? "?" : cores.toFixed(1);
}

/** The code of today at each peak, and the largest with the lanes and streams that it would need. */
function simulatedCases(inputs: Inputs): { readonly peak: number; readonly layout: Layout }[] {
  const today = { lanes: CODE.lanes, streams: CODE.streams };
  const largest = PEAKS[PEAKS.length - 1] ?? 0;
  const lanes = 2 ** Math.ceil(Math.log2(neededLanes(largest, inputs)));
  return [
    ...PEAKS.map((peak) => ({ peak, layout: today })),
    { peak: largest, layout: { lanes, streams: lanes } },
  ];
}

function simulationText({
  peak,
  layout,
  result,
  stages,
  messagesExpected,
}: SimulationCheck): string {
  const lanes = `${layout.lanes} lanes, ${layout.streams === 1 ? "one stream" : `${layout.streams} streams`}`;
  const table: Table = {
    head: ["busy share of", "arithmetic", "model", "", "waiting, mean", "most", ""],
    rows: stages.map((stage, at) => [
      stage.stage,
      stage.expected.toFixed(3),
      stage.utilisation.toFixed(3),
      verdictOf(stage, stages.slice(0, at)),
      amountText(Math.round(stage.waitingMean)),
      amountText(Math.round(stage.waitingMost)),
      stage.waits,
    ]),
  };
  const age = `age of a click in ClickHouse: p50 ${amountText(Math.round(result.ageP50Ms))} ms, p99 ${amountText(Math.round(result.ageP99Ms))} ms`;
  return [
    wrapped(
      `${peak.toLocaleString("en")} clicks/s, ${lanes}: ${amountText(Math.round(result.storedPerSecond))}/s stored; ${age}`,
    ),
    renderTable(table),
    `messages/s ${amountText(Math.round(messagesExpected))} by arithmetic, ${amountText(Math.round(result.messagesPerSecond))} in the model; ${result.insertsPerSecond.toFixed(1)} inserts/s`,
  ].join("\n");
}

/** A stage behind a saturated one gets less than arithmetic says, which then says nothing about it. */
export function verdictOf(
  { expected, utilisation }: Pick<StageCheck, "expected" | "utilisation">,
  before: readonly Pick<StageCheck, "utilisation">[],
): "agrees" | "saturated" | "starved" | "DIFFERS" {
  if (utilisation >= SATURATED && expected >= SATURATED) return "saturated";
  const isStarved = before.some((stage) => stage.utilisation >= SATURATED);
  if (isStarved && utilisation < expected) return "starved";
  const isNear = Math.abs(utilisation - expected) <= TOLERANCE * Math.max(expected, EXPECTED_MIN);
  return isNear ? "agrees" : "DIFFERS";
}
