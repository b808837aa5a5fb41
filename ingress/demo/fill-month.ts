import { join } from "node:path";
import { Catalog } from "../../schemas/catalog/catalog.ts";
import { CatalogFeed } from "../../schemas/catalog-feed/follow.ts";
import { fixedLanes } from "../../schemas/events/lane-source.ts";
import type { Lifetime } from "../../schemas/host/lifetime.ts";
import type { Log } from "../../schemas/host/log.ts";
import { Metrics } from "../../schemas/host/metrics.ts";
import { pause } from "../../schemas/host/pause.ts";
import { areStreamsOwn } from "../../schemas/installation/are-streams-own.ts";
import { readLanes } from "../../schemas/installation/lane-count.ts";
import { NatsLink } from "../../schemas/nats/nats-link.ts";
import type { Pool } from "../../schemas/postgres/connect.ts";
import { Pipeline } from "../journal/pipeline.ts";
import { untilFolderIsTaken } from "../journal/until-folder-is-taken.ts";
import { openIngressMetrics } from "../metrics.ts";
import { openReaders } from "../open-readers.ts";
import type { IngressSettings } from "../settings.ts";
import { DemoIngress } from "./demo-ingress.ts";
import { DemoProgress, readDemoFile } from "./demo-installation.ts";
import { DEMO_SEED, PlannedMonth } from "./plan-month.ts";
import type { PlannedDays } from "./plan-traffic.ts";
import { SeededRandom } from "./seeded-random.ts";
import { sendCosts } from "./send-costs.ts";
import { sendReports } from "./send-reports.ts";

const LOOK_MS = 50;
/** At the end, how long to wait until the processors have everything. */
const STORED_MS = 10_000;

export type Filled = { readonly clicks: number; readonly conversions: number };

export type MonthOptions = {
  readonly settings: IngressSettings;
  readonly pool: Pool;
  readonly lifetime: Lifetime;
  readonly log: Log;
  /** The end of the month, UTC ms. */
  readonly untilMs: number;
};

/** Makes the parts of the demo's month that were not begun before. */
export async function fillMonth(options: MonthOptions): Promise<Filled> {
  const { settings, lifetime, untilMs } = options;
  const { signal } = lifetime;
  const demo = readDemoFile(settings.dataDir);
  const progress = new DemoProgress(settings.dataDir);
  const { host } = new URL(demo.tracking_url);
  const { ingress, readers, link } = await openParts(options, host);
  const month = new PlannedMonth(untilMs, readers.geo);
  const sender = { link, token: demo.postback_token, host, signal };
  const filled = { clicks: 0, conversions: 0 };
  for (let part = progress.begun; part < month.parts; part += 1) {
    const planned = month.planPart(part);
    signal.throwIfAborted();
    progress.begin(part);
    const clickIds = await ingress.answer(planned.visits, signal);
    await ingress.untilStored(signal);
    filled.clicks += clickIds.filter((id) => id !== "").length;
    const reports = reportsOf(planned, clickIds);
    await Promise.all([sendReports(reports, sender), sendCosts(planned.costs, demo, signal)]);
    filled.conversions += reports.filter(({ isLater }) => !isLater).length;
  }
  return filled;
}

function reportsOf({ visits }: PlannedDays, clickIds: readonly string[]) {
  return visits.flatMap(({ reports }, index) =>
    reports.map((report) => ({ ...report, clickId: clickIds[index] ?? "" })),
  );
}

/** The parts of an ingress, without a server, and with a journal of its own. */
async function openParts({ settings, pool, lifetime, log }: MonthOptions, host: string) {
  const { signal } = lifetime;
  const metrics = openIngressMetrics(log, new Metrics());
  const { registry } = metrics;
  const journalPath = join(settings.dataDir, "journal");
  const folder = await untilFolderIsTaken(journalPath, pool, { log, signal });
  lifetime.own("journal folder", () => folder.release());
  const catalog = new Catalog();
  const feed = await CatalogFeed.start({ catalog, db: pool, log, metrics: registry });
  lifetime.own("catalog", () => feed.close());
  const link = new NatsLink(
    {
      ...settings.nats,
      name: "tracker demo traffic",
      role: "ingress",
      areStreamsOwn: async (nats) => await areStreamsOwn(pool, nats),
    },
    log,
  );
  lifetime.own("nats", () => link.close());
  const pipeline = new Pipeline({
    journalPath,
    folder,
    sync: settings.journalSync,
    reserveBytes: settings.journalReserveBytes,
    storedMs: STORED_MS,
    db: pool,
    link,
    lanes: fixedLanes(await readLanes(pool)),
    log,
    events: metrics,
    signal,
    others: undefined,
    onNumberLeft: async () => await lifetime.end("the producer number belongs to another process"),
  });
  pipeline.start();
  lifetime.own("journal", () => pipeline.close());
  void link.start();
  const readers = await openReaders(settings, metrics, log);
  while (!catalog.isLoaded || link.current() === undefined) await pause(LOOK_MS, signal);
  const random = new SeededRandom(DEMO_SEED);
  const { producer } = folder;
  const ingress = new DemoIngress({ catalog, pipeline, producer, readers, host, random });
  return { ingress, readers, link };
}
