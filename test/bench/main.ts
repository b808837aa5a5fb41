import { cpus } from "node:os";
import { benchAccessLog } from "./access-log.ts";
import { run as benchClickWriter } from "./click-writer.ts";
import { run as benchConversions } from "./conversions.ts";
import { benchDeliveries } from "./deliveries.ts";
import { benchFreshness } from "./freshness.ts";
import { benchHostile } from "./hostile.ts";
import { benchLargeCatalog } from "./large-catalog.ts";
import { benchPipeline } from "./pipeline.ts";
import { benchRedirects } from "./redirects.ts";
import { benchReports } from "./reports.ts";
import { benchRest } from "./rest.ts";
import { type BenchResult, renderResults } from "./result.ts";
import { benchStrangers } from "./strangers.ts";

/** `npm run bench [-- name …]` prints each figure beside a baseline of the same run. Absolute figures depend on the machine. */
const benches: Readonly<Record<string, () => Promise<BenchResult[]>>> = {
  redirects: benchRedirects,
  "access-log": benchAccessLog,
  pipeline: benchPipeline,
  writer: benchClickWriter,
  conversions: benchConversions,
  catalog: benchLargeCatalog,
  rest: benchRest,
  reports: benchReports,
  deliveries: benchDeliveries,
  hostile: benchHostile,
  strangers: benchStrangers,
  freshness: async () => [await benchFreshness(5_000)],
};

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => benches[name] === undefined);
if (unknown.length > 0) {
  console.error(
    `no bench named ${unknown.join(", ")}: there are ${Object.keys(benches).join(", ")}`,
  );
  process.exitCode = 2;
} else {
  await main(wanted.length === 0 ? Object.keys(benches) : wanted);
}

async function main(names: readonly string[]): Promise<void> {
  const results: BenchResult[] = [];
  for (const name of names) {
    console.error(`${name} …`);
    try {
      results.push(...((await benches[name]?.()) ?? []));
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
