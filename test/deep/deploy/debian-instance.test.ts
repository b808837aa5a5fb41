import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { projectFile } from "../../../schemas/host/project-root.ts";
import { IS_FULL } from "../../promises/report-cases.ts";
import { type Disturbance, replay } from "../../replay/replay.ts";
import { backUpClickhouse, restoreClickhouse } from "../../system/clickhouse-backup.ts";
import { DebianPostgres, debianPostgresFault } from "../../system/debian-postgres.ts";
import { factDifferences } from "../../system/fact-differences.ts";
import { OwnServer } from "../../system/own-server.ts";
import { until } from "../../system/until.ts";
import { NatsNode } from "./nats-node.ts";
import { TrackerInstance } from "./tracker-instance.ts";

vi.setConfig({ testTimeout: 360_000 });

const SHARED_LOG = projectFile("..", "shared", "data", "web-access.log.gz");
const LOG = existsSync(SHARED_LOG) ? SHARED_LOG : projectFile("test", "samples", "access.log");
const LINES = IS_FULL && LOG === SHARED_LOG ? 1_500 : 400;
const SECONDS = 30;
const BETWEEN_MS = 3_000;
const BACKUP = "middle";
/** Each try is a process that loads the whole program. */
const RESTORED = { timeoutMs: 90_000, pollMs: 5_000 };

const fault = debianPostgresFault();
if (fault !== undefined) {
  const remedy = "apt-get install postgresql-15, and run it as root";
  process.stderr.write(`skipped: an instance of Debian's servers: ${fault} (${remedy})\n`);
}

type Instance = {
  readonly postgres: DebianPostgres;
  readonly clickhouse: OwnServer;
  readonly nats: NatsNode;
  readonly tracker: TrackerInstance;
};

test.skipIf(fault !== undefined)(
  "on Debian's servers nothing is lost or doubled by kill -9 of every process, nor by a restore",
  async () => {
    await using postgres = await DebianPostgres.open();
    await using clickhouse = await OwnServer.open("clickhouse");
    // The package of Debian 13: 2.9 of Debian 12 cannot compress streams.
    await using nats = await NatsNode.open();
    await nats.start();
    await using tracker = await TrackerInstance.open({
      postgres: postgres.url,
      clickhouse: clickhouse.url,
      nats: (user) => nats.urlOf(user),
    });
    await tracker.prepare();
    await tracker.start();
    const instance = { postgres, clickhouse, nats, tracker };
    const printed: string[] = [];
    const say = (line: string): void => void printed.push(line);
    const steps = stepsOf(instance);
    const done: string[] = [];
    const compared = await replay({
      log: LOG,
      dataDir: tracker.dataDir,
      postgresUrl: postgres.url,
      ratePerSecond: LINES / SECONDS,
      linesMax: LINES,
      share: 0.2,
      seed: "debian",
      say,
      disturb: () => inTurn(steps, done),
      afterwards: async () => await restore(instance),
    });
    expect(compared.differences, printed.join("\n")).toEqual([]);
    expect(compared.clicksAnswered).toBeGreaterThan(LINES / 2);
    expect(compared.conversionsStored).toBeGreaterThan(LINES / 50);
    expect(done).toEqual(steps.map(({ name }) => name));
    expect(printed).toContain("comparing the ledger with the service again …");
    const facts = await factDifferences({ postgres: postgres.url, clickhouse: clickhouse.url });
    expect(facts.differences).toEqual([]);
    expect(refusedByNats(nats.log)).toEqual([]);
  },
);

/** The right to answer a question ends with the server that passed it on, so an answer after its death is refused, and nobody waits for it. */
function refusedByNats(log: string): string[] {
  return log
    .split("\n")
    .filter(
      (line) => /violation/i.test(line) && !/Publish Violation .* Subject "_INBOX\./.test(line),
    );
}

type Step = { readonly name: string; readonly take: () => Promise<void> | void };

/** The death of every process and server, each once, and in the middle the backup that is restored at the end. */
function stepsOf({ postgres, clickhouse, nats, tracker }: Instance): Step[] {
  return [
    { name: "ingress worker", take: async () => await tracker.ingress.killChild() },
    { name: "click writers", take: () => tracker.clicks.kill() },
    { name: "Postgres", take: async () => await postgres.crash() },
    {
      name: "backup",
      take: async () => {
        postgres.backUp();
        await backUpClickhouse(clickhouse, BACKUP);
      },
    },
    { name: "other processors", take: () => tracker.rest.kill() },
    {
      name: "NATS",
      take: async () => {
        await nats.kill();
        await nats.start();
      },
    },
    { name: "api", take: () => tracker.api.kill() },
    {
      name: "ClickHouse",
      take: async () => {
        await clickhouse.kill();
        await clickhouse.start();
      },
    },
    { name: "ingress with its workers", take: () => tracker.ingress.kill() },
  ];
}

/** Takes the steps one after another while the traffic runs, all of them even if it ends earlier. */
function inTurn(steps: readonly Step[], done: string[]): Disturbance {
  const ingressKilledAtMs: number[] = [];
  const taking = (async () => {
    for (const { name, take } of steps) {
      await sleep(BETWEEN_MS);
      await take();
      if (name.startsWith("ingress")) ingressKilledAtMs.push(Date.now());
      done.push(name);
    }
  })();
  // `stop` reports the error.
  taking.catch(() => undefined);
  return {
    stop: async () => {
      await taking;
      return { ingressKilledAtMs };
    },
  };
}

/** As the page about backups says, with ingress running throughout. */
async function restore({ postgres, clickhouse, tracker }: Instance): Promise<void> {
  postgres.switchLog();
  const stopped = [tracker.clicks, tracker.rest, tracker.api];
  for (const one of stopped) await one.end();
  await postgres.kill();
  await postgres.restore();
  await restoreClickhouse(clickhouse, BACKUP);
  await tracker.run("migrate");
  await until(
    "`tracker restored` is done",
    async () => (await tracker.run("restored", "--both")) !== undefined,
    RESTORED,
  );
  await tracker.start(stopped);
  await tracker.untilReady(tracker.ingress);
  await until(
    "the audit finds no difference",
    async () => (await tracker.run("audit", "--repair")) !== undefined,
    { timeoutMs: 90_000, pollMs: 2_000 },
  );
}
