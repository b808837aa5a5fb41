import { DAY_MS, HOUR_MS, MINUTE_MS, type OffsetSegment } from "../../schemas/time/zone.ts";
import type { Source, TimeKind } from "./dimensions.ts";

/** Rows that ClickHouse keeps added up with every part: a projection of schemas/clickhouse/migrations/0005_rollups.sql. */
export type Rollup = {
  readonly projection: string;
  readonly grainMs: number;
  /** What its rows are told apart by, besides workspace and time. */
  readonly columns: ReadonlySet<string>;
};

/** Instants of UTC in milliseconds, both included. */
export type Span = { readonly fromMs: number; readonly toMs: number };

/** Spans that are read the same way: in steps of a rollup, or row by row. */
export type Piece = { readonly grainMs: number | undefined; readonly spans: readonly Span[] };

const HALF_HOUR_MS = 30 * MINUTE_MS;
const OFFER = ["offer_id", "advertiser_id", "country"];
const OWNERS = [...OFFER, "affiliate_id"];
const CAMPAIGN = ["traffic_source", "ext_campaign_id", "ext_adgroup_id"];
const DEVICE = ["device_type", "os", "browser"];
/** What only clicks have. */
const CLICK = ["status", "currency"];
const LINK = ["smart_link_id", "link_type"];

/** The coarsest first, and of one grain any that knows enough: ClickHouse takes the smallest. */
export const ROLLUPS: Readonly<Partial<Record<Source, readonly Rollup[]>>> = {
  click: [
    rollup("by_day", DAY_MS, [...OWNERS, "traffic_source", "domain", ...LINK, ...CLICK]),
    rollup("by_device", DAY_MS, [...OWNERS, ...DEVICE, ...CLICK]),
    rollup("by_campaign", DAY_MS, [...OWNERS, ...CAMPAIGN, ...CLICK]),
    rollup("by_day_country", DAY_MS, [...OFFER, ...CLICK]),
    rollup("by_day_device", DAY_MS, [...OFFER, ...DEVICE, ...CLICK]),
    rollup("by_half_hour", HALF_HOUR_MS, [...OWNERS, "traffic_source", ...CLICK]),
    rollup("by_half_hour_country", HALF_HOUR_MS, [...OFFER, ...CLICK]),
  ],
  impression: [
    rollup("by_day", DAY_MS, [...OWNERS, "traffic_source", "domain"]),
    rollup("by_device", DAY_MS, [...OWNERS, ...DEVICE]),
    rollup("by_campaign", DAY_MS, [...OWNERS, ...CAMPAIGN]),
    rollup("by_day_country", DAY_MS, OFFER),
    rollup("by_day_device", DAY_MS, [...OFFER, ...DEVICE]),
    rollup("by_half_hour", HALF_HOUR_MS, [...OWNERS, "traffic_source"]),
    rollup("by_half_hour_country", HALF_HOUR_MS, OFFER),
  ],
};

/**
 * How a range is read: whole steps of the coarsest rollup that knows everything asked for, what is left at both ends by the
 * next one, and the rest row by row. Every instant of the range is in exactly one span.
 */
export function piecesOf(
  source: Source,
  range: Span,
  asked: {
    readonly columns: readonly string[];
    readonly times: readonly TimeKind[];
    readonly segments: readonly OffsetSegment[];
  },
): Piece[] {
  const pieces: Piece[] = [];
  let open: readonly Span[] = [range];
  for (const { grainMs, columns } of ROLLUPS[source] ?? []) {
    const knowsAll = asked.columns.every((column) => columns.has(column));
    if (!knowsAll || !canTell(grainMs, asked)) continue;
    const steps = open.map((span) => wholeSteps(span, grainMs));
    const whole = steps.flatMap(({ inner }) => inner);
    if (whole.length > 0) pieces.push({ grainMs, spans: whole });
    open = steps.flatMap(({ outer }) => outer);
  }
  return open.length > 0 ? [...pieces, { grainMs: undefined, spans: open }] : pieces;
}

/** Whether every step lies within one day, or one hour, of the zone's clocks. */
function canTell(
  grainMs: number,
  {
    times,
    segments,
  }: { readonly times: readonly TimeKind[]; readonly segments: readonly OffsetSegment[] },
): boolean {
  if (times.length === 0) return true;
  const needsHours = times.some((kind) => kind === "hour" || kind === "hour_start");
  if (grainMs > (needsHours ? HOUR_MS : DAY_MS)) return false;
  const changes = segments.slice(1).map(({ fromMs }) => fromMs);
  return [...changes, ...segments.map(({ offsetMs }) => offsetMs)].every(
    (ms) => ms % grainMs === 0,
  );
}

function wholeSteps({ fromMs, toMs }: Span, grainMs: number): { inner: Span[]; outer: Span[] } {
  const first = Math.ceil(fromMs / grainMs) * grainMs;
  const end = Math.floor((toMs + 1) / grainMs) * grainMs;
  if (first >= end) return { inner: [], outer: [{ fromMs, toMs }] };
  const outer = [
    { fromMs, toMs: first - 1 },
    { fromMs: end, toMs },
  ];
  return {
    inner: [{ fromMs: first, toMs: end - 1 }],
    outer: outer.filter((span) => span.fromMs <= span.toMs),
  };
}

function rollup(projection: string, grainMs: number, columns: readonly string[]): Rollup {
  return { projection, grainMs, columns: new Set(columns) };
}
