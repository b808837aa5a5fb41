import { cpus, loadavg } from "node:os";
import { currentCommit } from "../promises/figures/current-commit.ts";
import { benchAccessLog } from "./access-log.ts";
import { printCapacity } from "./capacity/print-capacity.ts";
import { run as benchClickWriter } from "./click-writer.ts";
import { benchConfirmations } from "./confirmations.ts";
import { run as benchConversions } from "./conversions.ts";
import { benchDeliveries } from "./deliveries.ts";
import type { BenchRun, Figures } from "./figures/bench-run.ts";
import { appendRun, busyCores, thisMachine } from "./figures/run-file.ts";
import { benchFreshness } from "./freshness.ts";
import { benchHostile } from "./hostile.ts";
import { benchLargeCatalog } from "./large-catalog.ts";
import { benchPipeline } from "./pipeline.ts";
import { benchRedirects } from "./redirects.ts";
import { benchReports } from "./reports.ts";
import { benchRest } from "./rest.ts";
import { type BenchResult, renderResults } from "./result.ts";
import { benchStanding } from "./standing.ts";
import { benchStrangers } from "./strangers.ts";
import { benchStream } from "./stream.ts";
import { benchUniques } from "./uniques.ts";

/** `npm run bench [-- name …]` prints each figure beside a baseline of the same run. Absolute figures depend on the machine. */
const benches: Readonly<Record<string, () => Promise<BenchResult[]>>> = {
  redirects: benchRedirects,
  "access-log": benchAccessLog,
  pipeline: benchPipeline,
  writer: benchClickWriter,
  stream: benchStream,
  conversions: benchConversions,
  confirmations: benchConfirmations,
  catalog: benchLargeCatalog,
  rest: benchRest,
  reports: benchReports,
  deliveries: benchDeliveries,
  hostile: benchHostile,
  strangers: benchStrangers,
  uniques: benchUniques,
  standing: benchStanding,
  freshness: async () => [await benchFreshness(5_000)],
};

/** Measures nothing: it calculates with the figures that the benches have left in figures/runs.jsonl. */
const CAPACITY = "capacity";

/** How long the bench looks at what else runs before it begins. */
const LOOK_AROUND_MS = 3_000;
const LOUD_CORES = 0.5;

const wanted = process.argv.slice(2);
const known = [...Object.keys(benches), CAPACITY];
const unknown = wanted.filter((name) => !known.includes(name));
if (unknown.length > 0) {
  console.error(`no bench named ${unknown.join(", ")}: there are ${known.join(", ")}`);
  process.exitCode = 2;
} else {
  const measuring = wanted.filter((name) => name !== CAPACITY);
  if (wanted.length === 0 || measuring.length > 0)
    await main(wanted.length === 0 ? Object.keys(benches) : measuring);
  if (wanted.includes(CAPACITY)) printCapacity();
}

async function main(names: readonly string[]): Promise<void> {
  const results: BenchResult[] = [];
  // Before the first line is added, which changes the tree.
  const commit = currentCommit();
  for (const name of names) {
    console.error(`${name} …`);
    const load = oneDecimal(loadavg()[0] ?? Number.NaN);
    const busy = oneDecimal(await busyCores(LOOK_AROUND_MS));
    if (busy > LOUD_CORES)
      console.error(`  other programs keep ${busy} cores busy: figures will be too small`);
    try {
      const ofBench = (await benches[name]?.()) ?? [];
      results.push(...ofBench);
      record(name, { commit, load, busy }, ofBench);
    } catch (error) {
      console.error(error);
      process.exitCode = 1;
      results.push({
        name,
        figure: "failed, see above",
        baseline: "-",
        ratio: null,
        budget: "-",
        ok: null,
      });
    }
  }
  console.log(
    `${cpus().length} cores, ${cpus()[0]?.model ?? "unknown processor"}, Node ${process.version}\n`,
  );
  console.log(renderResults(results));
}

/** Adds one line to the file of runs, if the bench has measured anything that capacity is calculated with. */
function record(
  bench: string,
  noise: Pick<BenchRun, "commit" | "load" | "busy">,
  results: readonly BenchResult[],
): void {
  const figures = results.reduce<Figures>((all, result) => ({ ...all, ...result.figures }), {});
  if (Object.keys(figures).length === 0) return;
  const date = new Date().toISOString();
  appendRun({ bench, machine: thisMachine(), date, ...noise, figures });
}

function oneDecimal(value: number): number {
  return Math.round(value * 10) / 10;
}
