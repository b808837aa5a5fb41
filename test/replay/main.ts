import { parseArgs } from "node:util";
import { listed } from "./compare.ts";
import { checkVictims, runFaults } from "./faults.ts";
import { replay } from "./replay.ts";

/** `npm run replay -- <log> [options]` sends real traffic through a running service and then recounts all of it. */
const USAGE = `usage: npm run replay -- <access log, plain or .gz> [options]

  --data-dir DIR    DATA_DIR of the running service (default: $DATA_DIR or .data)
  --rate N          clicks per second (default 400)
  --share N         part of the clicks that convert, 0 to 1 (default 0.2)
  --lines N         stop after this many lines (default: all)
  --seed TEXT       decides the links and the conversions (default: a new seed each time)
  --plain           only plain links of the demo workspace, without caps, targeting and other rules
  --postgres URL    where to make the replay's workspace (default: $POSTGRES_URL, or the Postgres of the DATA_DIR)
  --faults          kill -9 an ingress, the processors and ClickHouse during the run
The service must accept forwarded addresses: TRUSTED_PROXIES=127.0.0.1/32 npm start`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    "data-dir": { type: "string", default: process.env["DATA_DIR"] ?? ".data" },
    rate: { type: "string", default: "400" },
    share: { type: "string", default: "0.2" },
    lines: { type: "string", default: "1000000" },
    seed: { type: "string", default: String(Date.now()) },
    plain: { type: "boolean", default: false },
    postgres: { type: "string", default: process.env["POSTGRES_URL"] ?? "" },
    faults: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});

const [log] = positionals;
if (log === undefined || values.help) {
  console.error(USAGE);
  process.exitCode = 2;
} else {
  await main(log);
}

async function main(path: string): Promise<void> {
  const dataDir = values["data-dir"];
  try {
    if (values.faults) await checkVictims(dataDir);
    const result = await replay({
      log: path,
      dataDir,
      say,
      seed: values.seed,
      isPlain: values.plain,
      ...(values.postgres === "" ? {} : { postgresUrl: values.postgres }),
      ratePerSecond: positive(values.rate, "--rate"),
      share: positive(values.share, "--share"),
      linesMax: positive(values.lines, "--lines"),
      ...(values.faults ? { disturb: () => runFaults(dataDir, say) } : {}),
    });
    for (const line of listed(result.differences)) say(`difference: ${line}`);
    say(
      result.differences.length === 0
        ? "no difference: every click and every conversion is stored exactly once, and the reports agree"
        : `${result.differences.length} differences`,
    );
    process.exitCode = result.differences.length === 0 ? 0 : 1;
  } catch (error) {
    say(`replay failed: ${error instanceof Error ? error.message : String(error)}`);
    process.exitCode = 1;
  }
}

function say(line: string): void {
  console.log(line);
}

function positive(text: string, name: string): number {
  const value = Number(text);
  if (!Number.isFinite(value) || value <= 0)
    throw new Error(`${name}: expected a positive number, got ${text}`);
  return value;
}
