import { randomBytes } from "node:crypto";
import { readdirSync, statSync } from "node:fs";
import { mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startNats } from "../../deploy/local/embedded-nats.ts";
import { encodeBatch } from "../../schemas/events/click-batch.ts";
import { projectFile } from "../../schemas/host/project-root.ts";
import { connectNats, type Nats } from "../../schemas/nats/connect.ts";
import { ensureStreams, readStream } from "../../schemas/nats/streams.ts";
import { freePort } from "../system/start-system.ts";
import { benchReport } from "./bench-servers.ts";
import { benchLine } from "./click-writer.ts";
import { type BenchResult, quantile } from "./result.ts";

const SYNCED_WRITES = 1_000;
/** A message of a lane with some traffic. */
const WRITE_BYTES = 32 * 1_024;
const SECONDS = 4;
const PUBLISHES_AT_ONCE = 16;
const DIFFERENT_MESSAGES = 64;
const SMALL_RECORDS = 1;
const LARGE_RECORDS = 250;

/**
 * What a message costs the one stream of clicks when NATS syncs each message, on this disk, and how much of its bytes reaches the disk.
 * The producers' acknowledgements wait for it.
 */
export async function benchStream(): Promise<BenchResult[]> {
  const folder = await mkdtemp(join(tmpdir(), "bench-stream-"));
  try {
    const writes = await syncedWrites(folder);
    return [...writes, ...(await streamResults(folder))];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function syncedWrites(folder: string): Promise<BenchResult[]> {
  const file = await open(join(folder, "synced"), "w");
  const tookMs: number[] = [];
  try {
    const bytes = randomBytes(WRITE_BYTES);
    for (let write = 0; write < SYNCED_WRITES; write += 1) {
      const startedAtMs = performance.now();
      await file.write(bytes);
      await file.datasync();
      tookMs.push(performance.now() - startedAtMs);
    }
  } finally {
    await file.close();
  }
  const [p50, p99] = [quantile(tookMs, 0.5), quantile(tookMs, 0.99)];
  const figure = `p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms`;
  return [
    plain("a write of 32 KB and its sync", figure, {
      syncedWriteP50Ms: p50,
      syncedWriteP99Ms: p99,
    }),
  ];
}

async function streamResults(folder: string): Promise<BenchResult[]> {
  const runtimeDir =
    process.env["RUNTIME_DIR"] ?? projectFile("node_modules", ".cache", "tracker-runtime");
  const server = await startNats({
    dataDir: folder,
    runtimeDir,
    bind: "127.0.0.1",
    port: await freePort(),
    report: benchReport,
    syncsAlways: true,
  });
  try {
    const nats = await connectNats({ url: server.url, prefix: "", name: "bench" });
    try {
      await ensureStreams(nats);
      return await measure(nats, folder);
    } finally {
      await nats.connection.drain();
    }
  } finally {
    await server.stop();
  }
}

async function measure(nats: Nats, folder: string): Promise<BenchResult[]> {
  const small = await messagesPerSecond(nats, SMALL_RECORDS);
  const large = await messagesPerSecond(nats, LARGE_RECORDS);
  const [smallMs, largeMs] = [1_000 / small.perSecond, 1_000 / large.perSecond];
  const megabyteMs = Math.max(0, ((largeMs - smallMs) * 1_000_000) / (large.bytes - small.bytes));
  const { bytesUsed = 0 } = (await readStream(nats, 0)) ?? {};
  const diskShare = storeBytes(join(folder, "nats")) / bytesUsed;
  return [
    plain(`synced messages/s of ${SMALL_RECORDS} record`, `${Math.round(small.perSecond)}/s`, {
      streamMessageMs: smallMs,
    }),
    plain(`synced messages/s of ${LARGE_RECORDS} records`, `${Math.round(large.perSecond)}/s`, {
      streamMegabyteMs: megabyteMs,
    }),
    plain("bytes on the disk, of those that CLICKS_STREAM_BYTES counts", diskShare.toFixed(2), {
      streamDiskShare: diskShare,
    }),
  ];
}

/** Several publishers at once, each of which waits for its acknowledgement, as the lanes of the ingress processes do. */
async function messagesPerSecond(
  nats: Nats,
  records: number,
): Promise<{ readonly perSecond: number; readonly bytes: number }> {
  const messages = differentMessages(records);
  let published = 0;
  const startedAtMs = performance.now();
  const publishers = Array.from({ length: PUBLISHES_AT_ONCE }, async () => {
    while (performance.now() - startedAtMs < SECONDS * 1_000) {
      const message = messages[published % messages.length];
      published += 1;
      if (message === undefined) throw new Error("no message to publish");
      await nats.jetstream.publish(nats.subjects.clicks(0), message);
    }
  });
  await Promise.all(publishers);
  const perSecond = published / ((performance.now() - startedAtMs) / 1_000);
  return { perSecond, bytes: messages[0]?.length ?? 0 };
}

/** Made before the measurement. Together larger than a block of the store, so that repeats in a block do not compress it. */
function differentMessages(records: number): Uint8Array[] {
  return Array.from({ length: DIFFERENT_MESSAGES }, (_, n) => {
    const first = n * records;
    const lines = Array.from({ length: records }, (_line, line) => benchLine(first + line));
    return encodeBatch({ lane: 0, producer: 1, epoch: records, first, at: Date.now(), lines });
  });
}

/** Bytes of the blocks of messages, which have their compressed size once NATS has closed them. */
function storeBytes(folder: string): number {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".blk"))
    .map((name) => statSync(join(folder, name)).size)
    .reduce((sum, size) => sum + size, 0);
}

function plain(
  name: string,
  figure: string,
  figures: NonNullable<BenchResult["figures"]>,
): BenchResult {
  return { name, figure, baseline: "-", ratio: null, budget: "-", ok: null, figures };
}
