import { join } from "node:path";
import type { Lifetime } from "../schemas/host/lifetime.ts";
import type { Log } from "../schemas/host/log.ts";
import { pause } from "../schemas/host/pause.ts";
import type { Queryable } from "../schemas/postgres/connect.ts";
import { systemClock } from "../schemas/time/clock.ts";
import { adoptOrphans } from "./journal/adopt.ts";
import { allocateProducer } from "./journal/allocate-producer.ts";
import { Journal } from "./journal/journal.ts";
import { leaveNumber } from "./journal/leave-number.ts";
import { shipLeftovers } from "./journal/leftovers.ts";
import { ProducerClaim } from "./journal/producer-claim.ts";
import type { ProducerFolder } from "./journal/producer-folder.ts";
import { recordDurably } from "./journal/record-durably.ts";
import { Shipper } from "./journal/shipper.ts";
import { WatermarkBook } from "./journal/watermarks.ts";
import type { IngressMetrics } from "./metrics.ts";
import type { NatsLink } from "./nats-link.ts";
import type { Pixels } from "./pixels/open-pixels.ts";
import { hasPixels } from "./pixels/pixel-files.ts";
import type { IngressSettings } from "./settings.ts";

const CLOSE_SHIPPER_MS = 5_000;
const CONFIRMATION_LOOK_MS = 500;
/** The number or the epoch of this process is another's: its supervisor starts it again under a new number. */
const EXIT_NUMBER_TAKEN = 5;

export type JournalParts = {
  readonly settings: IngressSettings;
  readonly pool: Queryable;
  readonly folder: ProducerFolder;
  readonly link: NatsLink;
  readonly log: Log;
  readonly lifetime: Lifetime;
  readonly metrics: IngressMetrics;
  readonly pixels: Pixels;
};

/** Opens the journal of this start, ships it, and brings home what earlier starts and dead processes left. */
export function openJournal(parts: JournalParts): { journal: Journal; shipper: Shipper } {
  const { settings, pool, folder, link, log, lifetime, metrics, pixels } = parts;
  const { producer, epoch, nonce, path } = folder;
  const { signal } = lifetime;
  const journalPath = join(settings.dataDir, "journal");
  const allocate = (forClaim: string): Promise<number> => allocateProducer(pool, forClaim);
  const leave = leaver(parts, { journalPath, allocate });
  const claim = new ProducerClaim({ db: pool, folder, log, onLost: leave });
  claim.start();
  lifetime.own("producer number", () => claim.close());

  const book = new WatermarkBook((error) => log.error({ err: error }, "watermark.unreadable"));
  link.onConnection((nats) => book.follow(nats));
  const shipper: Shipper = new Shipper({
    link,
    run: { producer, epoch, nonce },
    journal: () => journal,
    book,
    log,
    events: metrics,
    nowMs: () => systemClock.nowMs(),
    onRefused: () => leave("the click writers have this producer and epoch from another process"),
  });
  const journal: Journal = Journal.open({
    folder: path,
    epoch,
    sync: settings.journalSync,
    reserveBytes: settings.journalReserveBytes,
    onTaken: (place, frame) => {
      metrics.taken();
      shipper.take(place, frame);
    },
    onDiskFault: (place, error) => {
      metrics.diskFailed(error);
      return recordDurably(shipper, place, () => metrics.unrecorded());
    },
    onSyncFault: (error) => metrics.syncFailed(error),
  });
  shipper.start();
  lifetime.own("shipper", () => shipper.close(CLOSE_SHIPPER_MS));
  lifetime.own("journal", () => journal.close());

  const common = { link, book, signal, log, events: metrics, allocate };
  const failed = (error: unknown): void => log.error({ err: error }, "journal.leftovers-failed");
  const mayDeclareLost = (): boolean => claim.isConfirmed;
  shipLeftovers({ ...common, folder: path, producer, epoch, mayDeclareLost })
    .then(async (isHome) => {
      if (!isHome) return;
      while (!claim.isConfirmed && !signal.aborted) await pause(CONFIRMATION_LOOK_MS, signal);
      if (claim.isConfirmed) shipper.leftoversAreHome();
    })
    .catch(failed);
  const others = { isIn: hasPixels, takeFrom: (from: string) => pixels.adopt(from) };
  const adopted = (taken: ProducerFolder): ProducerClaim => adoptedClaim(pool, taken, log);
  adoptOrphans({ ...common, journalPath, ownProducer: producer, others, claim: adopted }).catch(
    failed,
  );
  return { journal, shipper };
}

/** Ends this process once its next start has a number, whatever is wrong with the present one. */
function leaver(
  { folder, lifetime, log }: JournalParts,
  options: { journalPath: string; allocate: (claim: string) => Promise<number> },
): (reason: string) => void {
  const { signal } = lifetime;
  let isLeaving = false;
  return (reason) => {
    if (isLeaving || signal.aborted) return;
    isLeaving = true;
    leaveNumber(folder, reason, { ...options, log, signal })
      .then(async () => {
        process.exitCode = EXIT_NUMBER_TAKEN;
        await lifetime.end(`producer number ${folder.producer} belongs to another process`);
      })
      .catch((error: unknown) => {
        if (!signal.aborted) log.error({ err: error }, "producer.number-not-left");
      });
  };
}

/** Of a folder that is adopted for a while: its number may belong to another one too, and then nothing is said about it. */
function adoptedClaim(db: Queryable, folder: ProducerFolder, log: Log): ProducerClaim {
  const { producer } = folder;
  const onLost = (reason: string): void => log.error({ producer, reason }, "producer.adopted-copy");
  const claim = new ProducerClaim({ db, folder, log, onLost });
  claim.start();
  return claim;
}
