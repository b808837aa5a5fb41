import { afterAll, beforeAll, expect, test } from "vitest";
import { IS_FULL, reportCases } from "../../promises/report-cases.ts";
import { ClickLoad, loadDifferences } from "../../system/click-load.ts";
import { OwnServer } from "../../system/own-server.ts";
import { SEED } from "../../system/seed.ts";
import { serversOf } from "../../system/servers-of.ts";
import { pause } from "../../system/service.ts";
import { type System, startSystem } from "../../system/start-system.ts";
import { storedClicks } from "../../system/stored-clicks.ts";
import { TcpGate } from "../../system/tcp-gate.ts";
import { until } from "../../system/until.ts";

const OUTAGE_MS = IS_FULL ? 600_000 : 10_000;
const NORMAL_MS = IS_FULL ? 60_000 : 4_000;
/** Added to the bound in CI, where other load disturbs the p99: clicks that wait for NATS would still exceed it by seconds. */
const MORE_MS_MAX = IS_FULL ? 0 : 250;
const STORED_MS = IS_FULL ? 900_000 : 120_000;
/** At full size a comparison reads some 600,000 rows. */
const COMPARE_EVERY_MS = IS_FULL ? 5_000 : 500;
const LINK_TICK_MS = 50;
/** A fixed rate before and during the outage, so that the p99 does not depend on the capacity of the machine. */
const CLICKS_PER_SECOND = 1_000;

type Path = { readonly nats: OwnServer; readonly gate: TcpGate };

/** Begins an outage. Returns a function that ends it. */
const OUTAGES: Readonly<Record<string, (path: Path) => Promise<() => Promise<void>>>> = {
  killed: async ({ nats }) => {
    await nats.kill();
    return () => nats.start();
  },
  frozen: async ({ nats }) => {
    await nats.signal("SIGSTOP");
    return () => nats.signal("SIGCONT");
  },
  "behind a link that is down": async ({ gate }) => {
    // New connections are accepted too, but nothing passes.
    const timer = setInterval(() => gate.freeze(), LINK_TICK_MS);
    gate.freeze();
    return async () => {
      clearInterval(timer);
      await gate.shut();
      await gate.open();
    };
  },
};

type World = Path & { readonly system: System };
const worlds = new Map<string, World>();

// All worlds start before the first measurement, so that each has the same two neighbours before and during its outage.
beforeAll(async () => {
  await Promise.all(
    Object.keys(OUTAGES).map(async (outage) => {
      const nats = await OwnServer.open("nats");
      const gate = await TcpGate.open(nats.url);
      const system = await startSystem({ env: { NATS_URL: gate.urlOf(nats.url) } });
      worlds.set(outage, { nats, gate, system });
    }),
  );
});

afterAll(async () => {
  await Promise.all(
    [...worlds.values()].map(async ({ nats, gate, system }) => {
      await system[Symbol.asyncDispose]();
      await gate.shut();
      await nats[Symbol.asyncDispose]();
    }),
  );
});

test.concurrent.for(Object.keys(OUTAGES))(
  "NATS is %s under load: every click is answered as fast as before, and none is lost (P2, #24)",
  async (outage, context) => {
    const { system, ...path } = worldOf(outage);
    const { clickhouse } = await serversOf(system);
    const load = new ClickLoad(system.client.demo.links.affiliate.replace(/\?.*/, ""));
    load.start(4, CLICKS_PER_SECOND);
    await until("clicks are answered", () => load.answered.size > 200);
    load.takeLatenciesMs();
    await pause(NORMAL_MS);
    const normal = p99Of(load.takeLatenciesMs());
    const end = await OUTAGES[outage]?.(path);
    const before = load.answered.size;
    await pause(OUTAGE_MS);
    const during = p99Of(load.takeLatenciesMs());
    const answeredDuring = load.answered.size - before;
    await end?.();
    await until(
      "clicks are answered afterwards",
      () => load.answered.size > before + answeredDuring + 200,
      {
        timeoutMs: 90_000,
      },
    );
    await load.stop();
    let differences: string[] = ["not compared"];
    await until(
      "every answered click is stored once",
      async () => {
        differences = loadDifferences(load, await storedClicks(clickhouse, load.run));
        return differences.length === 0;
      },
      { timeoutMs: STORED_MS, pollMs: COMPARE_EVERY_MS },
    ).catch(() => undefined);
    const unanswered = load.unanswered.size + load.refused;
    reportCases(context, {
      cases: load.answered.size + unanswered,
      violations: differences.length + unanswered,
    });
    process.stderr.write(
      `P2: ${outage}, ${answeredDuring} clicks during it, p99 ${during.toFixed(1)} ms, before ${normal.toFixed(1)} ms, seed ${SEED}\n`,
    );
    expect({ unanswered, differences: differences.slice(0, 10) }).toEqual({
      unanswered: 0,
      differences: [],
    });
    expect(answeredDuring, "clicks answered during the outage").toBeGreaterThan(100);
    expect(during).toBeLessThanOrEqual(2 * normal + MORE_MS_MAX);
  },
);

function worldOf(outage: string): World {
  const world = worlds.get(outage);
  if (world === undefined) throw new Error(`nothing was started for: ${outage}`);
  return world;
}

function p99Of(latenciesMs: readonly number[]): number {
  return latenciesMs.toSorted((a, b) => a - b)[Math.floor(latenciesMs.length * 0.99)] ?? 0;
}
