import type { NodeDirectory } from "../../schemas/clickhouse/node-directory.ts";
import type { Facts } from "../../schemas/host/ops-server.ts";
import { systemClock } from "../../schemas/time/clock.ts";
import type { RoleDeps } from "../role-deps.ts";
import { LaneHomes } from "./lane/home.ts";
import { Lane } from "./lane/lane.ts";
import { LaneKeeper } from "./lane/lane-keeper.ts";
import { clickMetrics, type LaneReadings } from "./metrics.ts";
import { watchStreamSize } from "./stream-size.ts";

type ClickDeps = Omit<RoleDeps, "catalogFeed"> & {
  /** The nodes of a ClickHouse cluster; undefined for a server alone. Closed with the writers. */
  readonly clickhouseNodes?: NodeDirectory | undefined;
};

export type ClickOptions = {
  /** A name that only one process has at a time. The next process with this name takes over its lanes at once. */
  readonly owner: string;
  readonly leaseMs: number;
  /** How long a producer that has not announced its end may be silent before its clicks count as lost. */
  readonly producerPatienceMs: number;
  /** The most visits that a lane remembers; about 12 bytes each. */
  readonly uniquesMax?: number;
  /** Bytes of clicks that a lane keeps to find them without ClickHouse. */
  readonly youngBytesMax?: number;
};

/** Writes clicks and impressions of its share of the lanes until it is closed. Waits while servers are unavailable. */
export function startClicks(
  deps: ClickDeps,
  options: ClickOptions,
): { facts(): Facts; close(): Promise<void> } {
  const { producerPatienceMs } = options;
  const log = deps.log.child({ component: "clicks" });
  const lanes = new Set<Lane>();
  const homes = new LaneHomes(deps.clickhouse, { nodes: deps.clickhouseNodes, log });
  const metrics = clickMetrics(deps.metrics, () => ({
    ...readingsOf([...lanes]),
    lanesWanted: deps.catalog.lanes.all.length,
  }));
  const keeper = new LaneKeeper({
    pool: deps.pool,
    log,
    lanes: () => deps.catalog.lanes,
    owner: options.owner,
    leaseMs: options.leaseMs,
    startWorker: (lease) => {
      metrics.lanesTaken.add();
      const { uniquesMax, youngBytesMax } = options;
      const limits = { producerPatienceMs, uniquesMax, youngBytesMax };
      const shared = { ...limits, log, metrics, homes };
      const lane = new Lane({ ...deps, ...shared }, lease);
      lanes.add(lane);
      void lane.ended.then(() => lanes.delete(lane));
      return lane;
    },
  });
  keeper.run();
  const end = new AbortController();
  const watching = watchStreamSize({ ...deps, log }, end.signal);
  return {
    facts: () => ({
      rows_stored: deps.metrics.sum("clicks_rows_total") ?? 0,
      ...laneFacts([...lanes]),
    }),
    close: async () => {
      end.abort();
      await keeper.close();
      await watching;
      await homes.close();
    },
  };
}

/** For `/status`. Lists of lanes are separated by commas. */
function laneFacts(lanes: readonly Lane[]): Facts {
  const { oldestWaitingSeconds, pendingMessages, openHoles } = readingsOf(lanes);
  const numbers = (some: readonly Lane[]): string =>
    some
      .map(({ intake }) => intake.lane)
      .toSorted((a, b) => a - b)
      .join(",");
  const audited = lanes.flatMap(({ lastAudit }) => lastAudit?.atMs ?? []);
  return {
    lanes_held: numbers(lanes),
    oldest_waiting_seconds: oldestWaitingSeconds ?? 0,
    pending_messages: pendingMessages ?? null,
    open_holes: openHoles,
    lanes_equal: numbers(lanes.filter(({ lastAudit }) => lastAudit?.isOk === true)),
    lanes_differing: numbers(lanes.filter(({ lastAudit }) => lastAudit?.isOk === false)),
    oldest_audit_seconds:
      audited.length === 0 ? null : (performance.now() - Math.min(...audited)) / 1_000,
  };
}

function oldestVisit({ intake }: Lane): [number, number][] {
  const { oldestMs } = intake.uniques;
  return oldestMs === undefined ? [] : [[intake.lane, (systemClock.nowMs() - oldestMs) / 1_000]];
}

function readingsOf(lanes: readonly Lane[]): Omit<LaneReadings, "lanesWanted"> {
  const sum = (read: (lane: Lane) => number): number =>
    lanes.reduce((total, lane) => total + read(lane), 0);
  const pending = lanes.map((lane) => lane.pendingMessages);
  const openedAtMs = lanes.flatMap((lane) => lane.intake.first.openedAtMs ?? []);
  return {
    lanes: lanes.length,
    waitingRows: sum((lane) => lane.intake.rows),
    youngClicks: sum((lane) => lane.intake.young.count),
    youngBytes: sum((lane) => lane.intake.young.bytes),
    uniqueVisits: sum((lane) => lane.intake.uniques.size),
    uniqueBytes: sum((lane) => lane.intake.uniques.bytes),
    oldestVisitSeconds: new Map(lanes.flatMap((lane) => oldestVisit(lane))),
    silentProducers: new Map(lanes.map((lane) => [lane.intake.lane, lane.silentProducers])),
    openHoles: sum((lane) => lane.intake.producers.openHoles),
    pendingMessages: pending.includes(undefined)
      ? undefined
      : pending.reduce<number>((total, count) => total + (count ?? 0), 0),
    oldestWaitingSeconds:
      openedAtMs.length === 0 ? undefined : (performance.now() - Math.min(...openedAtMs)) / 1_000,
  };
}
