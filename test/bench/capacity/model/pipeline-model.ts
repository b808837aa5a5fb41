import { Ages } from "./ages.ts";
import { Arrivals } from "./arrivals.ts";
import { EventQueue } from "./event-queue.ts";
import { LaneShipper, type Message } from "./lane-shipper.ts";
import { LaneWriter } from "./lane-writer.ts";
import { Level } from "./level.ts";
import { Cores, Thread } from "./thread.ts";

/** An installation under load. Times are service times: what a job takes when nothing else waits. */
export type PipelineOptions = {
  readonly seed: number;
  readonly clicksPerSecond: number;
  /** Measured after the warm-up. */
  readonly seconds: number;
  readonly warmUpSeconds: number;
  /** Clicks of a worker that arrive within this time are one group. */
  readonly tickMs: number;
  readonly workers: number;
  readonly redirectUs: number;
  /** Share of the clicks in each lane. */
  readonly laneShares: readonly number[];
  readonly streams: number;
  readonly streamMs: (rows: number) => number;
  readonly networkMs: number;
  readonly messageRecordsMax: number;
  readonly recordBytes: number;
  readonly writerProcesses: number;
  readonly rowUs: number;
  readonly insertMs: (rows: number) => number;
  readonly clickhouseCores: number;
  /** Everything shares these cores; undefined: each worker, stream and writer has its own, ClickHouse too. */
  readonly oneMachine?: {
    readonly cores: number;
    readonly quantumMs: number;
    /** NATS and merges of ClickHouse, which elsewhere run beside the pipeline. */
    readonly natsUs: number;
    readonly mergeUs: number;
  };
};

export type StageResult = {
  readonly stage: "ingress" | "streams" | "writers" | "hottest lane's writer" | "inserts";
  /** Mean of its threads. */
  readonly utilisation: number;
  /** What waits or is worked on, over all of the stage. */
  readonly waitingMean: number;
  readonly waitingMost: number;
  readonly waits: "clicks" | "messages" | "rows";
};

export type PipelineResult = {
  readonly stages: readonly StageResult[];
  readonly messagesPerSecond: number;
  readonly insertsPerSecond: number;
  readonly storedPerSecond: number;
  readonly ageP50Ms: number;
  readonly ageP99Ms: number;
  /** Unstored rows of one lane at their most. */
  readonly unstoredRowsMost: number;
  readonly events: number;
};

/** Runs the model. The same options give the same result. */
export function simulatePipeline(options: PipelineOptions): PipelineResult {
  return new PipelineModel(options).run();
}

class PipelineModel {
  readonly #options: PipelineOptions;
  readonly #events = new EventQueue();
  readonly #arrivals: Arrivals;
  readonly #ages = new Ages();
  readonly #workers: Thread[];
  readonly #streams: Thread[];
  readonly #nats: Thread | undefined;
  readonly #merges: Thread | undefined;
  readonly #processes: Thread[];
  readonly #inserts: Thread[];
  readonly #lanes: LaneWriter[];
  readonly #atIngress: Level;
  readonly #atStreams: Level;
  #messages = 0;

  constructor(options: PipelineOptions) {
    this.#options = options;
    this.#arrivals = new Arrivals(options.seed);
    const events = this.#events;
    const { oneMachine, laneShares } = options;
    const shared =
      oneMachine === undefined
        ? undefined
        : new Cores(events, oneMachine.cores, oneMachine.quantumMs);
    const own = (): Thread => new Thread(events, shared ?? new Cores(events, 1));
    const clickhouse = shared ?? new Cores(events, options.clickhouseCores);
    this.#workers = times(options.workers, own);
    // A stream waits for its disk, not for a core.
    this.#streams = times(options.streams, () => new Thread(events, new Cores(events, 1)));
    this.#nats = shared === undefined ? undefined : own();
    this.#merges = shared === undefined ? undefined : own();
    this.#processes = times(options.writerProcesses, own);
    this.#inserts = laneShares.map(() => new Thread(events, clickhouse));
    this.#lanes = this.#inserts.map((inserts, lane) => this.#openLane(inserts, lane));
    this.#atIngress = new Level(() => events.nowMs);
    this.#atStreams = new Level(() => events.nowMs);
  }

  run(): PipelineResult {
    const { warmUpSeconds, seconds } = this.#options;
    for (const [number, worker] of this.#workers.entries()) this.#receive(worker, number);
    this.#events.runUntil(warmUpSeconds * 1_000);
    this.#restart();
    this.#events.runUntil((warmUpSeconds + seconds) * 1_000);
    return this.#result();
  }

  #openLane(inserts: Thread, lane: number): LaneWriter {
    const { rowUs, insertMs, recordBytes, oneMachine } = this.#options;
    return new LaneWriter({
      events: this.#events,
      process: chosen(this.#processes, lane),
      inserts,
      rowMs: rowUs / 1_000,
      insertMs,
      recordBytes,
      ages: this.#ages,
      onStored: (rows) => {
        this.#merges?.do((rows * (oneMachine?.mergeUs ?? 0)) / 1_000, () => undefined);
      },
    });
  }

  /** One worker: its clicks arrive at random, and are shipped by lane once they are answered. */
  #receive(worker: Thread, number: number): void {
    const { laneShares, clicksPerSecond, workers, tickMs, redirectUs } = this.#options;
    const shippers = laneShares.map(
      (_, lane) =>
        new LaneShipper(this.#events, this.#options.messageRecordsMax, (message, acknowledged) =>
          this.#publish(lane, message, acknowledged),
        ),
    );
    const perTick = (clicksPerSecond / workers) * (tickMs / 1_000);
    const tick = (): void => {
      const atMs = this.#events.nowMs;
      const counts = laneShares.map((share) => this.#arrivals.poisson(share * perTick));
      const clicks = counts.reduce((sum, count) => sum + count, 0);
      this.#events.after(tickMs, tick);
      if (clicks === 0) return;
      this.#atIngress.add(clicks);
      worker.do((clicks * redirectUs) / 1_000, () => {
        this.#atIngress.add(-clicks);
        for (const [lane, count] of counts.entries())
          if (count > 0) shippers[lane]?.take(count, atMs);
      });
    };
    // Workers do not tick together.
    this.#events.after((tickMs * number) / workers, tick);
  }

  #publish(lane: number, message: Message, acknowledged: () => void): void {
    const { networkMs, streamMs, oneMachine } = this.#options;
    const store = (): void => {
      chosen(this.#streams, lane).do(streamMs(message.rows), () => {
        this.#atStreams.add(-1);
        this.#messages += 1;
        this.#events.after(networkMs, acknowledged);
        this.#events.after(networkMs, () => this.#lanes[lane]?.deliver(message));
      });
    };
    this.#events.after(networkMs, () => {
      this.#atStreams.add(1);
      if (this.#nats === undefined) store();
      else this.#nats.do((message.rows * (oneMachine?.natsUs ?? 0)) / 1_000, store);
    });
  }

  #restart(): void {
    for (const thread of this.#threads()) thread.restart();
    for (const lane of this.#lanes) lane.restart();
    this.#atIngress.restart();
    this.#atStreams.restart();
    this.#ages.restart();
    this.#messages = 0;
  }

  #threads(): Thread[] {
    return [...this.#workers, ...this.#streams, ...this.#processes, ...this.#inserts];
  }

  #result(): PipelineResult {
    const { seconds, laneShares } = this.#options;
    const lanes = this.#lanes;
    const sum = (of: (lane: LaneWriter) => number): number =>
      lanes.reduce((total, lane) => total + of(lane), 0);
    const hottest = laneShares.indexOf(Math.max(...laneShares));
    return {
      stages: [
        {
          stage: "ingress",
          utilisation: mean(this.#workers),
          ...waiting(this.#atIngress, "clicks"),
        },
        {
          stage: "streams",
          utilisation: mean(this.#streams),
          ...waiting(this.#atStreams, "messages"),
        },
        {
          stage: "writers",
          utilisation: mean(this.#processes),
          waitingMean: sum(({ unread }) => unread.mean),
          waitingMost: sum(({ unread }) => unread.most),
          waits: "rows",
        },
        {
          stage: "hottest lane's writer",
          utilisation: chosen(this.#processes, hottest).utilisation,
          ...waiting(chosen(lanes, hottest).unread, "rows"),
        },
        {
          stage: "inserts",
          utilisation: mean(this.#inserts),
          waitingMean: sum(({ unstored }) => unstored.mean),
          waitingMost: sum(({ unstored }) => unstored.most),
          waits: "rows",
        },
      ],
      messagesPerSecond: this.#messages / seconds,
      insertsPerSecond: sum(({ inserts }) => inserts) / seconds,
      storedPerSecond: this.#ages.clicks / seconds,
      ageP50Ms: this.#ages.quantileMs(0.5),
      ageP99Ms: this.#ages.quantileMs(0.99),
      unstoredRowsMost: Math.max(...lanes.map(({ unstored }) => unstored.most)),
      events: this.#events.events,
    };
  }
}

function waiting(
  { mean: waitingMean, most: waitingMost }: Level,
  waits: StageResult["waits"],
): Pick<StageResult, "waitingMean" | "waitingMost" | "waits"> {
  return { waitingMean, waitingMost, waits };
}

function mean(threads: readonly Thread[]): number {
  return threads.reduce((sum, { utilisation }) => sum + utilisation, 0) / threads.length;
}

/** Lanes are given to streams and writers in turn. */
function chosen<T>(all: readonly T[], lane: number): T {
  const one = all[lane % all.length];
  if (one === undefined) throw new Error("a stage needs at least one thread");
  return one;
}

function times<T>(count: number, make: () => T): T[] {
  return Array.from({ length: count }, make);
}
