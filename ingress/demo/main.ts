/** Started by `npm start` for a new demo workspace: `main.js --until MS` gives it a month of traffic that ends then, UTC ms. */
import { parseArgs } from "node:util";
import { Lifetime } from "../../schemas/host/lifetime.ts";
import { openLog } from "../../schemas/host/log.ts";
import { settingsOrUndefined } from "../../schemas/host/read-settings.ts";
import { openPool } from "../../schemas/postgres/connect.ts";
import { assertPostgresMigrated } from "../../schemas/postgres/migrate.ts";
import { readIngressSettings } from "../settings.ts";
import { fillMonth } from "./fill-month.ts";

const EXIT_FAILED = 1;
const STANDARD_ERROR = 2;
const CLOSE_MS = 15_000;
const POSTGRES_CONNECTIONS_MAX = 2;

async function main(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({ args: [...args], options: { until: { type: "string" } } });
  const settings = settingsOrUndefined(readIngressSettings);
  if (settings === undefined) return;
  const log = openLog({ process: "demo-traffic", level: "warn", descriptor: STANDARD_ERROR });
  const lifetime = new Lifetime(log, { endWithParent: settings.exitWithParent, closeMs: CLOSE_MS });
  const pool = openPool({
    ...settings.postgres,
    applicationName: "tracker demo traffic",
    connectionsMax: POSTGRES_CONNECTIONS_MAX,
  });
  lifetime.own("postgres", () => pool.end());
  try {
    await assertPostgresMigrated(pool);
    const untilMs = Number(values.until ?? Date.now());
    const { clicks, conversions } = await fillMonth({ settings, pool, lifetime, log, untilMs });
    process.stdout.write(`${clicks} clicks, ${conversions} conversions\n`);
  } catch (error) {
    process.exitCode = EXIT_FAILED;
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  }
  await lifetime.end("the month is filled");
}

await main(process.argv.slice(2));
