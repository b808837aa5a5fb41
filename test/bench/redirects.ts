import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { residentBytes } from "../system/processes.ts";
import { diskRecordsPerSecond } from "./disk-speed.ts";
import { fullLoad, isOnPath, openLoopLoad } from "./load-tools.ts";
import { type Contender, openContenders, type RedirectContenders } from "./redirect-contenders.ts";
import { clickPath, headersOf, ONE_VISITOR, requestText } from "./request-texts.ts";
import { type BenchResult, quantile } from "./result.ts";
import { prepareSpreadLoad } from "./spread-load.ts";
import { StageTimes } from "./stage-times.ts";
import { realVisitors } from "./visitors.ts";

const ROUNDS = 5;
const SECONDS = 4;
const OPEN_LOOP_SECONDS = 8;
const IDLE_MS = 5_000;
/** The rate of the account in bench pipeline. */
const LOW_RATE = 10_000;
const LOW_RATE_REQUESTS = 100_000;
const ONE_LINK_BUDGET = 0.75;
const SPREAD_BUDGET = 0.6;
const P99_BUDGET = 2;
const MEMORY_BUDGET_MB = 500;

type Rates = Readonly<Record<"floor" | "ingress", number>>;
type Load = (contender: Contender) => Promise<number>;

/**
 * Redirects a second and the 99th percentile of one ingress process, against the floor of this stack (floor-redirect.ts). Bare
 * uWebSockets.js and nginx show the limits of the machine.
 */
export async function benchRedirects(): Promise<BenchResult[]> {
  if (!isOnPath("wrk")) return [notMeasured("redirects/s", "wrk is missing: apt-get install wrk")];
  const folder = await mkdtemp(join(tmpdir(), "tracker-bench-"));
  try {
    await using contenders = await openContenders(folder);
    return await measure(contenders, folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function measure(contenders: RedirectContenders, folder: string): Promise<BenchResult[]> {
  const { ingress, floor, bare, nginx, links, recordBytes } = contenders;
  const visitors = await realVisitors();
  const spread = await prepareSpreadLoad(folder, { name: "spread", links, visitors });
  const one = await medianRates(contenders, async ({ origin, path }) =>
    rateOf(await fullLoad(`${origin}${path}`, SECONDS, headersOf(ONE_VISITOR))),
  );
  const many = await medianRates(contenders, async ({ origin }) =>
    rateOf(await spread.run(origin, SECONDS)),
  );
  const results = [
    {
      ...comparedWithFloor("redirects/s, one link", one, ONE_LINK_BUDGET),
      figures: { oneLinkRedirectsPerSecond: one.ingress, recordBytes },
    },
    {
      ...comparedWithFloor(`redirects/s, ${links.length} links`, many, SPREAD_BUDGET),
      figures: { manyLinksRedirectsPerSecond: many.ingress },
    },
    await openLoopResult(contenders, folder, one.ingress / 2),
    await costAtLowRate(contenders, folder),
  ];
  for (const { name, contender } of [
    { name: "bare uWebSockets.js", contender: bare },
    { name: "nginx with an access log", contender: nginx },
  ]) {
    if (contender === undefined) {
      results.push(notMeasured(name, "nginx is missing: apt-get install nginx-light"));
      continue;
    }
    const rates: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const url = `${contender.origin}${contender.path}`;
      rates.push(rateOf(await fullLoad(url, SECONDS, headersOf(ONE_VISITOR))));
    }
    results.push(
      limit(`redirects/s, one link, against ${name}`, one.ingress, quantile(rates, 0.5)),
    );
  }
  const diskRate = await diskRecordsPerSecond(folder, recordBytes);
  results.push({
    ...limit("redirects/s, one link, against what the disk can take", one.ingress, diskRate),
    name: `records/s of ${recordBytes} bytes that the disk can take`,
    figures: { diskBytesPerSecond: diskRate * recordBytes },
  });
  const megabytes = residentBytes(ingress.pid) / 1024 ** 2;
  results.push({
    name: "memory of the ingress after the load",
    figure: `${megabytes.toFixed(0)} MB`,
    baseline: `floor: ${(residentBytes(floor.pid) / 1024 ** 2).toFixed(0)} MB`,
    ratio: null,
    budget: `<= ${MEMORY_BUDGET_MB} MB`,
    ok: megabytes <= MEMORY_BUDGET_MB,
  });
  return results;
}

/** Runs the load on the floor and the ingress in turn. The first round only warms up. */
async function medianRates({ floor, ingress }: RedirectContenders, load: Load): Promise<Rates> {
  const rates = { floor: [] as number[], ingress: [] as number[] };
  for (let round = 0; round <= ROUNDS; round += 1) {
    const [floorRate, ingressRate] = [await load(floor), await load(ingress)];
    if (round === 0) continue;
    rates.floor.push(floorRate);
    rates.ingress.push(ingressRate);
  }
  return { floor: quantile(rates.floor, 0.5), ingress: quantile(rates.ingress, 0.5) };
}

function rateOf({ requestsPerSecond, failures }: Awaited<ReturnType<typeof fullLoad>>): number {
  if (failures > 0) throw new Error(`${failures} redirects failed`);
  return requestsPerSecond;
}

/** The 99th percentile at an even rate, with shipping. */
async function openLoopResult(
  { floor, ingress }: RedirectContenders,
  folder: string,
  perSecond: number,
): Promise<BenchResult> {
  const requests = Math.round(perSecond * OPEN_LOOP_SECONDS);
  const p99s = { floor: [] as number[], ingress: [] as number[] };
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [name, { port, path }] of [
      ["floor", floor],
      ["ingress", ingress],
    ] as const) {
      const texts = Array.from({ length: 1_000 }, (_, n) =>
        requestText(clickPath(path, n), ONE_VISITOR),
      );
      const result = await openLoopLoad(folder, { port, perSecond, requests, texts });
      if (result.statuses["302"] !== requests)
        throw new Error(`${name}: not every answer is a 302: ${JSON.stringify(result.statuses)}`);
      p99s[name].push(result.p99Us);
    }
  }
  const [own, baseline] = [quantile(p99s.ingress, 0.5), quantile(p99s.floor, 0.5)];
  return {
    name: "p99 of a redirect at half its rate",
    figure: `${own.toFixed(0)} µs`,
    baseline: `${baseline.toFixed(0)} µs at ${Math.round(perSecond)}/s`,
    ratio: own / baseline,
    budget: `<= ${P99_BUDGET.toFixed(2)}`,
    ok: own / baseline <= P99_BUDGET,
  };
}

/** Processor time at a rate at which every request wakes its process: what the pipeline's ingress can cost at least. */
async function costAtLowRate(
  { floor, ingress }: RedirectContenders,
  folder: string,
): Promise<BenchResult> {
  const times = new StageTimes(
    new Map([
      ["floor", [floor.pid]],
      ["ingress", [ingress.pid]],
    ]),
  );
  await times.measureIdle(IDLE_MS);
  const seconds = { floor: 0, ingress: 0 };
  for (const [name, { port, path }] of [
    ["floor", floor],
    ["ingress", ingress],
  ] as const) {
    const texts = Array.from({ length: 1_000 }, (_, n) =>
      requestText(clickPath(path, n), ONE_VISITOR),
    );
    const measured = times.start();
    await openLoopLoad(folder, { port, perSecond: LOW_RATE, requests: LOW_RATE_REQUESTS, texts });
    seconds[name] = (measured().get(name) ?? 0) / 1_000_000;
  }
  return {
    name: `processor time of 100,000 redirects at ${LOW_RATE}/s`,
    figure: `${seconds.ingress.toFixed(2)} s`,
    baseline: `${seconds.floor.toFixed(2)} s`,
    ratio: seconds.ingress / seconds.floor,
    budget: "-",
    ok: null,
  };
}

function comparedWithFloor(name: string, { floor, ingress }: Rates, budget: number): BenchResult {
  return {
    ...limit(name, ingress, floor),
    budget: `>= ${budget.toFixed(2)} of the floor`,
    ok: ingress / floor >= budget,
  };
}

/** A ratio without a budget. */
function limit(name: string, own: number, baseline: number): BenchResult {
  return {
    name,
    figure: `${Math.round(own)}/s`,
    baseline: `${Math.round(baseline)}/s`,
    ratio: own / baseline,
    budget: "-",
    ok: null,
  };
}

function notMeasured(name: string, why: string): BenchResult {
  return { name, figure: why, baseline: "-", ratio: null, budget: "-", ok: null };
}
