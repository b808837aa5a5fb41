import { type Comparison, compareWithService } from "./compare.ts";
import { openExpectations } from "./expectation.ts";
import { readLogLines } from "./log-lines.ts";
import { planVisits } from "./plan.ts";
import { sendVisits } from "./send.ts";
import { readDemo, ServiceClient } from "./service.ts";

export type ReplayOptions = {
  readonly log: string;
  readonly dataDir: string;
  readonly ratePerSecond: number;
  /** Part of the clicks that convert, 0 to 1. */
  readonly share: number;
  readonly linesMax: number;
  readonly seed: string;
  readonly say: (line: string) => void;
  /** Called when the last request has been answered, before the recount. */
  readonly onSent?: () => Promise<void>;
};

const CONCURRENCY = 64;
const PATIENCE_MS = 90_000;
const PROGRESS_MS = 2_000;

/** Sends a log through the service that runs on `dataDir` and recounts everything. The seed is said at the start. */
export async function replay(options: ReplayOptions): Promise<Comparison> {
  const { say } = options;
  const { lines, skipped } = await readLogLines(options.log, options.linesMax);
  const client = new ServiceClient(await readDemo(options.dataDir), CONCURRENCY);
  try {
    const expect = await openExpectations();
    const visits = await planVisits(client, lines, options);
    const run = `replay-${Date.now().toString(36)}`;
    say(
      `run ${run}, seed ${options.seed}: ${visits.length} lines (${skipped} unreadable), ${options.ratePerSecond}/s`,
    );
    const from = new Date(Date.now() - 60_000).toISOString();
    const startedAtMs = performance.now();
    let saidAtMs = startedAtMs;
    const records = await sendVisits(client, visits, {
      run,
      ratePerSecond: options.ratePerSecond,
      concurrency: CONCURRENCY,
      onProgress: (sent) => {
        if (performance.now() - saidAtMs < PROGRESS_MS && sent !== visits.length) return;
        saidAtMs = performance.now();
        const seconds = (saidAtMs - startedAtMs) / 1_000;
        say(`  ${sent} of ${visits.length} clicks, ${Math.round(sent / seconds)}/s`);
      },
    });
    await options.onSent?.();
    say("comparing the ledger with the service …");
    const comparison = await compareWithService({
      client,
      run,
      from,
      records,
      expect,
      patienceMs: PATIENCE_MS,
    });
    const unanswered = records.reduce((sum, record) => sum + record.unansweredAttempts.length, 0);
    say(
      `  clicks: ${comparison.clicksAnswered} answered, ${comparison.clicksStored} stored, ${unanswered} attempts without an answer`,
    );
    say(
      `  conversions: ${comparison.conversionsStored} counted, ${comparison.repeatsStored} repeats`,
    );
    return comparison;
  } finally {
    await client.close();
  }
}
