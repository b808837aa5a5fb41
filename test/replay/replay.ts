import { readDemo, ServiceClient } from "../system/service.ts";
import { type Comparison, compareWithService } from "./compare.ts";
import { readDemoWorld } from "./demo-world.ts";
import { openExpectations } from "./expectation.ts";
import { readLogLines } from "./log-lines.ts";
import { planVisits } from "./plan.ts";
import { sendVisits, type VisitRecord } from "./send.ts";
import { embeddedPostgresUrl, setUpWorld } from "./set-up.ts";
import type { Knowledge } from "./taken-clicks.ts";
import type { World, WorldOffer } from "./world.ts";
import { planOffers } from "./world-offers.ts";

export type ReplayOptions = {
  readonly log: string;
  readonly dataDir: string;
  readonly ratePerSecond: number;
  /** Part of the clicks that convert, 0 to 1. */
  readonly share: number;
  readonly linesMax: number;
  readonly seed: string;
  /** Uses the demo workspace, without any rule. */
  readonly isPlain?: boolean;
  /** Where the replay makes its workspace; by default in the Postgres of the service on `dataDir`. */
  readonly postgresUrl?: string;
  readonly say: (line: string) => void;
  /** Called before the first request. `stop` is called after the last answer. */
  readonly disturb?: () => Disturbance;
  /** Called once ledger and service agree, for example to restore a backup. Then everything is compared again. */
  readonly afterwards?: () => Promise<void>;
};

/** Faults while the traffic runs. */
export type Disturbance = {
  /** Ends the faults. Returns when each ingress process was killed: UTC ms. */
  readonly stop: () => Promise<{ readonly ingressKilledAtMs: readonly number[] }>;
};

const CONCURRENCY = 64;
const PATIENCE_MS = 90_000;
const PROGRESS_MS = 2_000;
/** After this time every process knows the clicks that one process answered, and the conversion caps that were reached. */
const KNOWN_AFTER_MS = 2_000;
/** While processes are killed there is no bound for that, so each process must count only its own clicks since its start. */
const KNOWN_AFTER_FAULTS_MS = Number.POSITIVE_INFINITY;

/** Sends a log through the service that runs on `dataDir` and recounts everything. Prints the seed at the start. */
export async function replay(options: ReplayOptions): Promise<Comparison> {
  const { say } = options;
  const demo = new ServiceClient(await readDemo(options.dataDir), CONCURRENCY);
  const { lines, skipped } = await readLogLines(options.log, options.linesMax);
  const run = `replay-${Date.now().toString(36)}`;
  const { world, client } = await openWorld(options, { demo, run, lines: lines.length });
  try {
    const shares = new Map(planOffers(0, 0).map(({ key, share }) => [key, share]));
    const weightOf = ({ code }: WorldOffer): number => shares.get(code) ?? 1;
    const visits = planVisits(world, lines, { ...options, weightOf });
    say(
      `run ${run}, seed ${options.seed}: ${visits.length} lines (${skipped} unreadable), ${options.ratePerSecond}/s, ` +
        `${world.offers.length} offers, ${world.smartLinks.length} smart links, ${world.controls.length} traffic controls`,
    );
    const visitorOf = cached(await openExpectations());
    const from = new Date(Date.now() - 60_000).toISOString();
    const { records, knowledge } = await sendDisturbed(options, (onProgress) =>
      sendVisits({ client, world }, visits, {
        run,
        ratePerSecond: options.ratePerSecond,
        concurrency: CONCURRENCY,
        onProgress,
      }),
    );
    say("comparing the ledger with the service …");
    const subject = { client, world, run, from, records, visitorOf, knowledge };
    const compare = async (): Promise<Comparison> =>
      await compareWithService({ ...subject, patienceMs: PATIENCE_MS });
    let comparison = await compare();
    if (options.afterwards !== undefined && comparison.differences.length === 0) {
      await options.afterwards();
      say("comparing the ledger with the service again …");
      comparison = await compare();
    }
    const unanswered = records.reduce((sum, record) => sum + record.unansweredAttempts.length, 0);
    printResult(comparison, unanswered, say);
    return comparison;
  } finally {
    await client.close();
    await demo.close();
  }
}

/** Sends the visits while faults happen. The faults end with the traffic, even if it fails. */
async function sendDisturbed(
  { disturb, say, linesMax }: ReplayOptions,
  send: (onProgress: (sent: number) => void) => Promise<VisitRecord[]>,
): Promise<{ records: VisitRecord[]; knowledge: Knowledge }> {
  const disturbance = disturb?.();
  try {
    const records = await send(progress(linesMax, say));
    const faults = await disturbance?.stop();
    const knowledge =
      faults === undefined
        ? { ingressKilledAtMs: [], knownAfterMs: KNOWN_AFTER_MS }
        : { ...faults, knownAfterMs: KNOWN_AFTER_FAULTS_MS };
    return { records, knowledge };
  } finally {
    await disturbance?.stop();
  }
}

async function openWorld(
  options: ReplayOptions,
  { demo, run, lines }: { demo: ServiceClient; run: string; lines: number },
): Promise<{ world: World; client: ServiceClient }> {
  if (options.isPlain === true) return { world: await readDemoWorld(demo), client: demo };
  const postgresUrl = options.postgresUrl ?? (await embeddedPostgresUrl(options.dataDir));
  return await setUpWorld({
    client: demo,
    postgresUrl,
    run,
    lines,
    dataDir: options.dataDir,
  });
}

function progress(linesMax: number, say: ReplayOptions["say"]): (sent: number) => void {
  const startedAtMs = performance.now();
  let printedAtMs = startedAtMs;
  return (sent) => {
    if (performance.now() - printedAtMs < PROGRESS_MS && sent % 1_000 !== 0) return;
    printedAtMs = performance.now();
    const seconds = (printedAtMs - startedAtMs) / 1_000;
    say(`  ${sent} of at most ${linesMax} lines, ${Math.round(sent / seconds)}/s`);
  };
}

/** Parses each visitor once: few visitors send most of a log. */
function cached<T>(read: (ip: string, userAgent: string) => T): typeof read {
  const values = new Map<string, T>();
  return (ip, userAgent) => {
    const key = `${ip} ${userAgent}`;
    const value = values.get(key) ?? read(ip, userAgent);
    values.set(key, value);
    return value;
  };
}

function printResult(comparison: Comparison, unanswered: number, say: ReplayOptions["say"]): void {
  const { clicksAnswered, clicksStored, byReason, eitherWay, beyondCaps } = comparison;
  say(
    `  clicks: ${clicksAnswered} answered, ${clicksStored} stored, ${unanswered} attempts without an answer`,
  );
  const reasons = [...byReason].sort(([, a], [, b]) => b - a);
  say(`  ${reasons.map(([reason, count]) => `${reason} ${count}`).join(" · ")}`);
  say(
    `  ${eitherWay} of them have more than one right answer, ${beyondCaps} exceeded a full cap (test/replay/README.md)`,
  );
  say(`  impressions: ${comparison.impressions}`);
  const { conversionsStored, conversionsRefused, repeatsStored } = comparison;
  say(
    `  conversions: ${conversionsStored} approved, ${conversionsRefused} over a cap, ${repeatsStored} repeats`,
  );
}
