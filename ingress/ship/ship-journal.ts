import { fixedLanes, type LaneSource } from "../../schemas/events/lane-source.ts";
import type { Log } from "../../schemas/host/log.ts";
import { Metrics } from "../../schemas/host/metrics.ts";
import { pause } from "../../schemas/host/pause.ts";
import { areStreamsOwn } from "../../schemas/installation/are-streams-own.ts";
import { readLanes } from "../../schemas/installation/lane-count.ts";
import { NatsLink } from "../../schemas/nats/nats-link.ts";
import type { Pool } from "../../schemas/postgres/connect.ts";
import { shipAdopted } from "../journal/adopt.ts";
import { allocateProducer } from "../journal/allocate-producer.ts";
import { Pipeline } from "../journal/pipeline.ts";
import { type ProducerFolder, retiredSinceMs } from "../journal/producer-folder.ts";
import { WatermarkBook } from "../journal/watermarks.ts";
import { type IngressMetrics, openIngressMetrics } from "../metrics.ts";
import { openPixels } from "../pixels/open-pixels.ts";
import { hasPixels } from "../pixels/pixel-files.ts";
import type { IngressSettings } from "../settings.ts";

const LOOK_MS = 200;
/** At the end, how long to wait for clicks that this process has itself recorded for pixels. */
const STORED_MS = 10_000;

export type ShipOptions = {
  readonly journalPath: string;
  readonly settings: Pick<IngressSettings, "nats" | "journalReserveBytes">;
  readonly db: Pool;
  readonly log: Log;
  /** Ends the work. What is not shipped stays in the journal. */
  readonly signal: AbortSignal;
  /** Records that the journal no longer has, because it is damaged. */
  readonly onLost: (records: number) => void;
  /** Whether NATS can be reached, for the person who waits. */
  readonly onLink: (isConnected: boolean) => void;
};

/**
 * Ships all that a journal has left, as the next start of its process would, and publishes that nothing more comes from it. The caller
 * has its lock. Safe to kill at any instant and to run again: positions tell the writers what they have.
 */
export async function shipJournal(folder: ProducerFolder, options: ShipOptions): Promise<void> {
  const registry = new Metrics();
  const metrics = openIngressMetrics(options.log, registry);
  const events: IngressMetrics = {
    ...metrics,
    lost: (records) => {
      metrics.lost(records);
      options.onLost(records);
    },
  };
  const lanes = fixedLanes(await readLanes(options.db));
  const parts = { folder, options, registry, events, lanes, link: openLink(folder, options) };
  try {
    if (retiredSinceMs(folder.path) === undefined) await shipAsNextStart(parts);
    else await shipRetired(parts);
  } finally {
    await parts.link.close();
  }
}

type Parts = {
  readonly folder: ProducerFolder;
  readonly options: ShipOptions;
  readonly registry: Metrics;
  readonly events: IngressMetrics;
  readonly link: NatsLink;
  readonly lanes: LaneSource;
};

async function shipAsNextStart({
  folder,
  options,
  registry,
  events,
  link,
  lanes,
}: Parts): Promise<void> {
  const { journalPath, settings, db, log, onLink } = options;
  const left = new AbortController();
  const signal = AbortSignal.any([options.signal, left.signal]);
  const pixels = openPixels({ folder: folder.path, log, registry });
  const pipeline = new Pipeline({
    journalPath,
    folder,
    sync: "always",
    reserveBytes: settings.journalReserveBytes,
    storedMs: STORED_MS,
    db,
    link,
    lanes,
    log,
    events,
    signal,
    others: undefined,
    // The folder is retired then, and the caller comes back to it.
    onNumberLeft: () => Promise.resolve(left.abort()),
  });
  try {
    pipeline.start();
    const { producer } = folder;
    pixels.start({ link, producer, record: (recorded) => pipeline.append(recorded) });
    void link.start();
    while (!signal.aborted && !isDone(pipeline, folder)) {
      onLink(link.current() !== undefined);
      await pause(LOOK_MS, signal);
    }
  } finally {
    await pixels.close();
    await pipeline.close();
  }
}

function isDone(pipeline: Pipeline, { path }: ProducerFolder): boolean {
  const isStored = pipeline.lanes.every(({ unstored }) => unstored === 0);
  return pipeline.areLeftoversEnded && isStored && !hasPixels(path);
}

/** The folder's number belongs to another process, so nothing is added to it. */
async function shipRetired({ folder, options, events, link, lanes }: Parts): Promise<void> {
  const { db, log, signal, onLink } = options;
  const book = new WatermarkBook((error) => log.error({ err: error }, "watermark.unreadable"));
  link.onConnection((nats) => {
    book.follow(nats);
    onLink(true);
  });
  void link.start();
  await shipAdopted(
    {
      link,
      lanes,
      book,
      signal,
      log,
      events,
      allocate: (claim) => allocateProducer(db, claim),
      claim: () => {
        throw new Error(`the journal ${folder.producer} is not retired`);
      },
      // They need a journal that records their clicks: an ingress adopts them.
      others: { isIn: () => false, takeFrom: () => undefined },
    },
    folder,
  );
}

function openLink(folder: ProducerFolder, { settings, db, log }: ShipOptions): NatsLink {
  const options = {
    ...settings.nats,
    name: `tracker journal ship ${folder.producer}`,
    role: "ingress",
    areStreamsOwn: async (nats) => await areStreamsOwn(db, nats),
  } as const satisfies ConstructorParameters<typeof NatsLink>[0];
  return new NatsLink(options, log);
}
