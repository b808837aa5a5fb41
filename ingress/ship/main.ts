/** `tracker journal ship`: `main.js [--seconds N]` ships what ingress processes that are gone have left in DATA_DIR. */
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Lifetime } from "../../schemas/host/lifetime.ts";
import { openLog } from "../../schemas/host/log.ts";
import { settingsOrUndefined } from "../../schemas/host/read-settings.ts";
import { openPool, type Pool } from "../../schemas/postgres/connect.ts";
import { assertPostgresMigrated } from "../../schemas/postgres/migrate.ts";
import { OtherSchemaError } from "../../schemas/versions/judge-schema.ts";
import { type IngressSettings, readIngressSettings } from "../settings.ts";
import { leftJournals, sizeText } from "./left-journals.ts";
import { type MachineResult, shipMachine } from "./ship-machine.ts";

const EXIT_FAILED = 1;
const EXIT_OTHER_SCHEMA = 3;
const STANDARD_ERROR = 2;
const CLOSE_MS = 30_000;
/** Each journal that is shipped at the same time writes its run every 2 s. */
const POSTGRES_CONNECTIONS_MAX = 4;

async function main(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({ args: [...args], options: { seconds: { type: "string" } } });
  const settings = settingsOrUndefined(readIngressSettings);
  if (settings === undefined) return;
  const journalPath = join(settings.dataDir, "journal");
  if (leftJournals(journalPath) === undefined) {
    fail(`There is no folder ${journalPath}: set DATA_DIR to the one that the ingress had.`);
    return;
  }
  // Standard output is for the result.
  const log = openLog({ process: "journal-ship", level: "warn", descriptor: STANDARD_ERROR });
  const lifetime = new Lifetime(log, { endWithParent: true, closeMs: CLOSE_MS });
  const pool = openPool({
    ...settings.postgres,
    applicationName: "tracker journal ship",
    connectionsMax: POSTGRES_CONNECTIONS_MAX,
  });
  lifetime.own("postgres", () => pool.end());
  const limit =
    values.seconds === undefined ? [] : [AbortSignal.timeout(Number(values.seconds) * 1_000)];
  const signal = AbortSignal.any([lifetime.signal, ...limit]);
  const shipping = ship({ settings, journalPath, pool, signal, log });
  lifetime.own("journals", () => shipping);
  await shipping;
  await lifetime.end("shipped");
}

/** Never rejects. */
async function ship({
  settings,
  journalPath,
  pool,
  signal,
  log,
}: {
  readonly settings: IngressSettings;
  readonly journalPath: string;
  readonly pool: Pool;
  readonly signal: AbortSignal;
  readonly log: ReturnType<typeof openLog>;
}): Promise<void> {
  const say = (line: string): void => void process.stderr.write(`${line}\n`);
  try {
    await assertPostgresMigrated(pool);
    const result = await shipMachine({ journalPath, settings, db: pool, log, signal, say });
    report(result, journalPath);
  } catch (error) {
    fail(error instanceof Error ? error.message || error.name : String(error));
    if (error instanceof OtherSchemaError) process.exitCode = EXIT_OTHER_SCHEMA;
  }
}

function report(
  { journals, running, left, lostRecords }: MachineResult,
  journalPath: string,
): void {
  for (const producer of running)
    fail(`Journal ${producer} belongs to a process that runs, which ships it.`);
  for (const one of left)
    fail(`Journal ${one.producer} still has ${sizeText([one])}. Run the command again.`);
  if (lostRecords > 0)
    fail(`${lostRecords} records could not be read and are lost: the journal was damaged.`);
  if (process.exitCode !== undefined) return;
  const these = journals === 1 ? "1 journal" : `${journals} journals`;
  const are = journals === 1 ? "is" : "are";
  process.stdout.write(`${these} in ${journalPath} ${are} empty: everything is stored.\n`);
}

function fail(sentence: string): void {
  process.stderr.write(`${sentence}\n`);
  process.exitCode = EXIT_FAILED;
}

await main(process.argv.slice(2));
