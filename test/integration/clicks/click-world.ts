import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ClickOptions, startClicks } from "../../../processors/clicks/start.ts";
import { Catalog } from "../../../schemas/catalog/catalog.ts";
import { openClickhouse } from "../../../schemas/clickhouse/connect.ts";
import type { NodeDirectory } from "../../../schemas/clickhouse/node-directory.ts";
import { type Watermark, Watermarks } from "../../../schemas/events/click-batch.ts";
import { ClickAnswer, type ClickQuery } from "../../../schemas/events/click-query.ts";
import { Metrics } from "../../../schemas/host/metrics.ts";
import { connectNats } from "../../../schemas/nats/connect.ts";
import { streamOfLane } from "../../../schemas/nats/lane-groups.ts";
import { ensureStreams } from "../../../schemas/nats/streams.ts";
import type { Pool } from "../../../schemas/postgres/connect.ts";
import { type Clock, systemClock } from "../../../schemas/time/clock.ts";
import type { ServerUrls, Template } from "../../services/servers.ts";
import { type OpenStores, openStores, Stores, testLog } from "../../services/stores.ts";
import { until } from "../../system/until.ts";
import { ClickProducer } from "./click-producer.ts";

type WriterOptions = Partial<ClickOptions> & {
  readonly catalog?: Catalog;
  readonly clock?: Clock;
  /** Another way to the same ClickHouse. */
  readonly clickhouseUrl?: string;
  /** The nodes of a ClickHouse cluster; by default ClickHouse is a server alone. Closed with the writer. */
  readonly clickhouseNodes?: NodeDirectory | undefined;
  /** Another way to the same Postgres. */
  readonly pool?: Pool;
};

export type Writer = { readonly metrics: Metrics; close(): Promise<void> };

const LEASE_MS = 3_000;
const PATIENCE_48_H_MS = 48 * 3_600_000;
const PATIENCE = { timeoutMs: 90_000, pollMs: 25 };

/** Stores with a stream of clicks, click writers in this process, and producers as ingress is one. */
export class ClickWorld extends Stores {
  /** Where writers that run as processes keep their files. */
  readonly #folder = mkdtempSync(join(tmpdir(), "tracker-writers-"));
  readonly #writers = new Set<Writer>();
  readonly #watermarks = new Map<string, Watermark>();
  #owners = 0;

  private constructor(stores: OpenStores) {
    super(stores);
    this.nats.connection.subscribe(this.nats.subjects.watermark, {
      callback: (_error, message) => {
        for (const mark of Watermarks.parse(JSON.parse(new TextDecoder().decode(message.data)))) {
          this.#watermarks.set(`${mark.lane}.${mark.producer}.${mark.epoch}`, mark);
        }
      },
    });
    this.atEnd(async () => {
      await Promise.all([...this.#writers].map(async (writer) => await writer.close()));
      const manager = await this.nats.manager();
      await manager.streams.delete(streamOfLane(this.nats, 0));
      await rm(this.#folder, { recursive: true, force: true });
    });
  }

  /** On the servers of this run if no others are given. */
  static async open(servers?: ServerUrls & Template): Promise<ClickWorld> {
    const world = new ClickWorld(await openStores({ label: "clicks", servers }));
    await ensureStreams(world.nats);
    return world;
  }

  /** A writer with connections of its own, as a process has them. */
  async startWriter(options: WriterOptions = {}): Promise<Writer> {
    this.#owners += 1;
    const { catalog = new Catalog(), clock = systemClock, ...ways } = options;
    const { clickhouseUrl, clickhouseNodes, pool = this.pool, ...rest } = ways;
    const metrics = new Metrics();
    const nats = await connectNats({
      url: this.env.NATS_URL,
      name: "test writer",
      prefix: this.database.name,
    });
    const clickhouse = openClickhouse({
      url: clickhouseUrl ?? this.database.clickhouseUrl,
      applicationName: "test writer",
      connectionsMax: 24,
    });
    const clicks = startClicks(
      {
        pool,
        nats,
        clickhouse,
        clickhouseNodes,
        catalog,
        metrics,
        clock,
        log: testLog(),
        signal: new AbortController().signal,
      },
      {
        owner: `writer-${this.#owners}`,
        leaseMs: LEASE_MS,
        producerPatienceMs: PATIENCE_48_H_MS,
        ...rest,
      },
    );
    const writer: Writer = {
      metrics,
      close: async () => {
        if (!this.#writers.delete(writer)) return;
        await clicks.close();
        await nats.connection.close();
        await clickhouse.close();
      },
    };
    this.#writers.add(writer);
    return writer;
  }

  /** Settings of a writer that runs as a process of its own. */
  environment(name: string, leaseMs = LEASE_MS): Record<string, string> {
    return {
      ...this.env,
      DATA_DIR: join(this.#folder, name),
      PROCESSOR_NAME: name,
      ROLES: "clicks",
      LANE_LEASE_MS: String(leaseMs),
    };
  }

  producer(at: { lane?: number; producer?: number; epoch?: number } = {}): ClickProducer {
    return new ClickProducer(this.nats, { lane: 0, producer: 1, ...at });
  }

  /** What the table holds of a lane, over all producers. */
  async counts(lane = 0, table = "click"): Promise<{ rows: number; positions: number }> {
    const [row] = await this.facts<{ rows: number; positions: number }>(
      `select count() as rows, uniqExact(_producer, _epoch, _position) as positions
       from ${table} where _lane = {lane: UInt8}`,
      { lane },
    );
    return row ?? { rows: 0, positions: 0 };
  }

  /** Waits until the watermark of a producer is at `next` without a gap, so that everything before is settled. */
  async untilSettled(
    producer: ClickProducer,
    next = producer.lines.length,
    timeoutMs = PATIENCE.timeoutMs,
  ): Promise<void> {
    const isSettled = (mark: Watermark): boolean => mark.next >= next && mark.missing.length === 0;
    await this.untilWatermark(producer, isSettled, timeoutMs);
  }

  async untilWatermark(
    { lane, producer, epoch }: ClickProducer,
    holds: (mark: Watermark) => boolean,
    timeoutMs = PATIENCE.timeoutMs,
  ): Promise<Watermark> {
    const key = `${lane}.${producer}.${epoch}`;
    return await until(
      `the watermark of ${key}, first seen as ${JSON.stringify(this.#watermarks.get(key))}`,
      () => {
        const mark = this.#watermarks.get(key);
        return mark !== undefined && holds(mark) ? mark : undefined;
      },
      { ...PATIENCE, timeoutMs },
    );
  }

  /** Watermarks from now on only. */
  forgetWatermarks(): void {
    this.#watermarks.clear();
  }

  async ask(query: ClickQuery): Promise<ClickAnswer> {
    const subject = this.nats.subjects.clickQuery(query.shard);
    const reply = await this.nats.connection.request(subject, JSON.stringify(query), {
      timeout: 2_000,
    });
    return ClickAnswer.parse(JSON.parse(new TextDecoder().decode(reply.data)));
  }
}

/** The value of a counter or gauge, over all its labels; NaN when it is absent. */
export function metricOf(metrics: Metrics, name: string): number {
  const lines = metrics.render().split("\n");
  const values = lines.filter((line) => /^tracker_(\w+)[ {]/.exec(line)?.[1] === name);
  if (values.length === 0) return Number.NaN;
  return values.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" ") + 1)), 0);
}
