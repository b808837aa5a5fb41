import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, type TestContext, test } from "vitest";
import { producersIn } from "../../../ingress/journal/producer-folder.ts";
import { IS_FULL, reportCases } from "../../promises/report-cases.ts";
import type { ServerUrls } from "../../services/servers.ts";
import { ClickLoad, clickDifferences } from "../../system/click-load.ts";
import { ConversionLoad } from "../../system/conversion-load.ts";
import { factDifferences } from "../../system/fact-differences.ts";
import { EXIT_NUMBER_TAKEN, IngressMachine } from "../../system/ingress-machine.ts";
import { keepDown } from "../../system/processes.ts";
import { producerDifferences } from "../../system/producer-ledger.ts";
import { chosenBySeed } from "../../system/seed.ts";
import { serversOf } from "../../system/servers-of.ts";
import { type System, startSystem } from "../../system/start-system.ts";
import { until } from "../../system/until.ts";

const CLICKS = IS_FULL ? 5_000 : 100;
const CONVERSIONS = IS_FULL ? 300 : 10;
/** Clicks a second on each machine, also while the test waits; the full run sends as many as it can. */
const PER_SECOND = IS_FULL ? Number.POSITIVE_INFINITY : 50;
const PATIENCE = { timeoutMs: 120_000, pollMs: 50 };
const EQUAL_MS = 120_000;

/** An ingress, and a load that only this ingress answers. */
type LoadedIngress = { readonly name: string; readonly dataDir: string; readonly load: ClickLoad };

const COPIES: Readonly<Record<string, (context: TestContext) => Promise<void>>> = {
  "clicks of a machine and of a running copy of its journal count once": runningCopy,
  "clicks count once when a machine is replaced by a copy and comes back": replacedByCopy,
};
const all = Object.entries(COPIES);
/** Each takes a whole system, so CI runs one, which SEED chooses. */
const chosen = IS_FULL ? all : chosenBySeed(all, 1);
for (const [name] of all.filter((one) => !chosen.includes(one)))
  process.stderr.write(`P38: ${name}: not with this SEED\n`);

test.for(chosen)("%s (P38, #7, #12)", async ([, expectCounted], context) => {
  await expectCounted(context);
});

async function runningCopy(context: TestContext): Promise<void> {
  await using system = await startSystem();
  const urls = await serversOf(system);
  const original = withLoad(system, { name: "original", dataDir: system.dataDir });
  const conversions = new ConversionLoad(system.client, original.load);
  start(original);
  conversions.start();
  await grow([original]);
  await using clone = await withUnstored(system, [original], async () => {
    return await IngressMachine.open("clone", urls, { copyOf: system.dataDir });
  });
  const cloned = withLoad(system, clone);
  await clone.start();
  start(cloned);
  await until(
    "the original gives up its number",
    () => retiredIn(original).length + retiredIn(cloned).length > 0,
    PATIENCE,
  );
  await grow([original, cloned]);
  await stopAndCompare(context, { system, urls, machines: [original, cloned], conversions });
  expect(system.output()).toContain("runs on a copy of this journal folder");
  // The original keeps its journal and continues under another number.
  expect(retiredIn(original)).toHaveLength(1);
  expect(producersIn(join(original.dataDir, "journal"))).toHaveLength(2);
  expect(retiredIn(cloned)).toEqual([]);
}

async function replacedByCopy(context: TestContext): Promise<void> {
  await using system = await startSystem();
  const urls = await serversOf(system);
  await using machine = await IngressMachine.open("original", urls);
  await machine.start();
  const original = withLoad(system, machine);
  const conversions = new ConversionLoad(system.client, original.load);
  start(original);
  conversions.start();
  await grow([original]);
  await using clone = await withUnstored(system, [original], async () => {
    await machine.kill();
    const copy = await IngressMachine.open("clone", urls, { copyOf: machine.dataDir });
    await copy.start();
    return copy;
  });
  const cloned = withLoad(system, clone);
  start(cloned);
  await grow([cloned]);
  await machine.start();
  await until(
    "the original gives up its number",
    () => machine.exits.includes(EXIT_NUMBER_TAKEN),
    PATIENCE,
  );
  await grow([original, cloned]);
  await stopAndCompare(context, { system, urls, machines: [original, cloned], conversions });
  expect(machine.output).toContain("runs on a copy of this journal folder");
  expect(machine.exits).toEqual([EXIT_NUMBER_TAKEN]);
  expect([retiredIn(original).length, retiredIn(cloned).length]).toEqual([1, 0]);
}

/** Runs `work` while the machines' journals hold records that ClickHouse lacks, so that a copy ships them too. */
async function withUnstored<T>(
  system: System,
  machines: readonly LoadedIngress[],
  work: () => Promise<T>,
): Promise<T> {
  const startAgain = await keepDown(system, "processors");
  try {
    await grow(machines);
    return await work();
  } finally {
    startAgain();
  }
}

function withLoad(
  { client }: System,
  machine: { readonly name: string; readonly dataDir: string } | IngressMachine,
): LoadedIngress {
  const link = client.demo.links.affiliate.replace(/\?.*/, "");
  const own = machine instanceof IngressMachine ? machine.linkTo(link) : link;
  return { name: machine.name, dataDir: machine.dataDir, load: new ClickLoad(own) };
}

function start({ load }: LoadedIngress): void {
  load.start(2, PER_SECOND);
}

async function grow(machines: readonly LoadedIngress[]): Promise<void> {
  const before = machines.map(({ load }) => load.answered.size);
  await until(
    "more clicks are answered",
    () => machines.every(({ load }, at) => load.answered.size >= (before[at] ?? 0) + CLICKS),
    PATIENCE,
  );
}

/** Numbers of the journal folders that no later start will write to. */
function retiredIn({ dataDir }: LoadedIngress): number[] {
  const journal = join(dataDir, "journal");
  return producersIn(journal).filter((number) => existsSync(join(journal, `${number}`, "retired")));
}

/** Stops the loads and compares their ledgers with what the service has stored. */
async function stopAndCompare(
  context: Parameters<typeof reportCases>[0],
  found: {
    readonly system: System;
    readonly urls: ServerUrls;
    readonly machines: readonly LoadedIngress[];
    readonly conversions: ConversionLoad;
  },
): Promise<void> {
  const { system, urls, machines, conversions } = found;
  await until("conversions are answered", () => conversions.answered.size >= CONVERSIONS, PATIENCE);
  await conversions.stop();
  const loads = machines.map(({ load }) => load);
  for (const load of loads) await load.stop();
  const service = { name: "service", dataDir: system.dataDir, loads: [] };
  const others = machines.every(({ dataDir }) => dataDir !== system.dataDir) ? [service] : [];
  const compare = async (): Promise<{ cases: number; differences: string[] }> => {
    const facts = await factDifferences(urls);
    const producers = await producerDifferences(urls.clickhouse, [
      ...others,
      ...machines.map(({ name, dataDir, load }) => ({ name, dataDir, loads: [load.run] })),
    ]);
    const differences = [
      ...(await clickDifferences(urls.clickhouse, loads)),
      ...facts.differences,
      ...conversions.repeatedIds,
      ...producers.differences,
    ];
    const answered = loads.reduce((sum, load) => sum + load.answered.size, 0);
    return { cases: answered + facts.conversions + producers.epochs, differences };
  };
  await until("nothing differs", async () => (await compare()).differences.length === 0, {
    timeoutMs: EQUAL_MS,
    pollMs: 500,
  }).catch(() => undefined);
  const { cases, differences } = await compare();
  reportCases(context, { cases, violations: differences.length });
  expect(differences.slice(0, 10)).toEqual([]);
}
