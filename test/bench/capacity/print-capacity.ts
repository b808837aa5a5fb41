import type { BenchRun } from "../figures/bench-run.ts";
import { readRuns, thisMachine } from "../figures/run-file.ts";
import { firstLimits, limitTable, priceTable, quantityTable } from "./arithmetic-tables.ts";
import { type Inputs, inputsOf, type Origin, readOrigins } from "./inputs.ts";
import { readPriceList } from "./price.ts";
import { amountText, renderTable, type Table, wrapped } from "./text-table.ts";

const MS_PER_DAY = 86_400_000;

/** Prints the tables of capacity from the figures of the quietest machines. */
export function printCapacity(): void {
  const origins = readOrigins(readRuns(), thisMachine());
  const prices = readPriceList(process.env["PRICE_LIST"]);
  for (const line of capacityText({ origins, prices, nowMs: Date.now() })) console.log(line);
}

/** Lines of at most 100 characters. */
export function* capacityText({
  origins,
  prices,
  nowMs,
}: {
  readonly origins: readonly Origin[];
  readonly prices: ReturnType<typeof readPriceList>;
  readonly nowMs: number;
}): Generator<string> {
  const inputs = inputsOf(origins);
  yield wrapped(
    "Inputs. m: measured on this kind of machine; e: measured elsewhere; a: assumed. busy: cores that other programs took",
  );
  yield renderTable(inputTable(origins, nowMs));
  yield "";
  yield* arithmeticText(inputs, prices);
}

/** What the formulas say. */
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
