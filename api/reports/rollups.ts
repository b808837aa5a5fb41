import {
  DAY_MS,
  HOUR_MS,
  MINUTE_MS,
  type OffsetSegment,
  SECOND_MS,
} from "../../schemas/time/zone.ts";
import type { Source, TimeKind } from "./dimensions.ts";

/** Sums that ClickHouse keeps with every part: a projection of schemas/clickhouse/migrations/0001_schema.sql. */
export type Rollup = {
  readonly projection: string;
  readonly grainMs: number;
  /** Columns that its rows keep, in addition to workspace and time. */
  readonly columns: ReadonlySet<string>;
};

/** Instants of UTC in milliseconds, both included. */
export type Span = { readonly fromMs: number; readonly toMs: number };

/**
 * The clock that dates rows: the report's `zone`, or UTC. `moved` rows were dated by UTC but fall on another day in the zone: they are
 * subtracted from the first day and added to the second.
 */
export type Dating = "zone" | "utc" | "moved";

/** Spans that are read the same way: in steps of a rollup, or row by row. */
export type Piece = {
  readonly grainMs: number | undefined;
  readonly spans: readonly Span[];
  readonly dated: Dating;
};

/** What a report needs from the rows of a source. */
export type RowNeeds = {
  readonly columns: readonly string[];
  readonly times: readonly TimeKind[];
  readonly segments: readonly OffsetSegment[];
  /** Whether days may be dated by UTC and corrected afterwards. False if a row is judged by its date. */
  readonly mayMove: boolean;
};

const HALF_HOUR_MS = 30 * MINUTE_MS;
/** The statement lists the hours of each day, so this bounds its length. */
const MOVED_DAYS_MAX = 100;
const OFFER = ["offer_id", "advertiser_id", "country"];
const OWNERS = [...OFFER, "affiliate_id"];
const CAMPAIGN = ["traffic_source", "ext_campaign_id", "ext_adgroup_id"];
const DEVICE = ["device_type", "os", "browser"];
/** Columns that only clicks have. */
const CLICK = ["status", "currency"];
const LINK = ["smart_link_id", "link_type"];

/** Coarsest first. If several of one grain fit, ClickHouse uses the smallest. */
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
 * How a range is read: whole steps of the coarsest rollup that has every column, the rest at both ends by the next one, and what
 * remains row by row. Every instant of the range is in exactly one span that is not `moved`.
 *
 * Days of a zone differ from days of UTC, but mostly overlap, and a day has 48 times fewer rows of a rollup than its half hours. So whole
 * days are read by UTC, and the hours that fall on the day before or after in the zone are read again and moved: a sixth in New York.
 */
export function piecesOf(source: Source, { fromMs, toMs }: Span, needs: RowNeeds): Piece[] {
  // East of UTC the first of January 1970 begins in 1969, but steps of a rollup are counted from 0.
  const range = { fromMs: Math.max(0, fromMs), toMs };
  const grains = (ROLLUPS[source] ?? [])
    .filter(({ columns }) => needs.columns.every((column) => columns.has(column)))
    .map(({ grainMs }) => grainMs);
  const usable = grains.filter((grainMs) => isWithinBuckets(grainMs, needs));
  const isByDay = usable.includes(DAY_MS) || !grains.includes(DAY_MS);
  if (isByDay || !canMove(range, needs)) return piecesByGrain([range], usable, "zone");
  return movedDays(range, { grains, usable }, needs.segments);
}

/** The time of a rollup, in exactly the text of its projection. Otherwise ClickHouse does not recognise the projection. */
export function stepSql(grainMs: number): string {
  return `intDiv(toUnixTimestamp(ts), ${grainMs / SECOND_MS})`;
}

/** The steps of spans that consist of whole ones. */
export function stepsOf(spans: readonly Span[], grainMs: number): number[] {
  return spans.flatMap(({ fromMs, toMs }) => {
    const first = fromMs / grainMs;
    return Array.from({ length: (toMs + 1) / grainMs - first }, (_, index) => first + index);
  });
}

/** Coarsest grain first. */
function piecesByGrain(spans: readonly Span[], grains: readonly number[], dated: Dating): Piece[] {
  const pieces: Piece[] = [];
  let open = spans;
  for (const grainMs of grains) {
    const steps = open.map((span) => splitAtGrain(span, grainMs));
    const whole = steps.flatMap(({ inner }) => inner);
    pieces.push(...pieceOf(whole, grainMs, dated));
    open = steps.flatMap(({ outer }) => outer);
  }
  return [...pieces, ...pieceOf(open, undefined, dated)];
}

/** Empty if there are no spans. */
function pieceOf(spans: readonly Span[], grainMs: number | undefined, dated: Dating): Piece[] {
  return spans.length === 0 ? [] : [{ grainMs, spans, dated }];
}

/** `usable` are the grains that fit into days of the zone. */
function movedDays(
  range: Span,
  { grains, usable }: { readonly grains: readonly number[]; readonly usable: readonly number[] },
  segments: readonly OffsetSegment[],
): Piece[] {
  const steps = byOffset(range, segments).map(({ offsetMs, ...span }) => {
    const { inner, outer } = splitAtGrain(span, DAY_MS);
    return { inner, outer, hours: inner.flatMap((days) => hoursOfOtherDays(days, offsetMs)) };
  });
  const days = steps.flatMap(({ inner }) => inner);
  const hours = steps.flatMap((step) => step.hours);
  const edges = steps.flatMap(({ outer }) => outer);
  const finer = grains.filter((grainMs) => grainMs < DAY_MS);
  return [
    ...pieceOf(days, DAY_MS, "utc"),
    ...piecesByGrain(hours, finer, "moved"),
    ...piecesByGrain(edges, usable, "zone"),
  ];
}

/** East of Greenwich the end of a UTC day is already the next day; west of it, its beginning is still the day before. */
function hoursOfOtherDays({ fromMs, toMs }: Span, offsetMs: number): Span[] {
  const spans: Span[] = [];
  if (offsetMs === 0) return spans;
  for (let dayMs = fromMs; dayMs < toMs; dayMs += DAY_MS) {
    const endMs = dayMs + DAY_MS;
    spans.push(
      offsetMs > 0
        ? { fromMs: endMs - offsetMs, toMs: endMs - 1 }
        : { fromMs: dayMs, toMs: dayMs - offsetMs - 1 },
    );
  }
  return spans;
}

/** The span, cut where the zone's clocks change. */
function byOffset(
  span: Span,
  segments: readonly OffsetSegment[],
): (Span & { readonly offsetMs: number })[] {
  return segments.flatMap(({ fromMs, offsetMs }, index) => {
    const endMs = segments[index + 1]?.fromMs ?? Number.POSITIVE_INFINITY;
    const part = {
      fromMs: index === 0 ? span.fromMs : Math.max(span.fromMs, fromMs),
      toMs: Math.min(span.toMs, endMs - 1),
    };
    return part.fromMs <= part.toMs ? [{ ...part, offsetMs }] : [];
  });
}

function canMove({ fromMs, toMs }: Span, { times, mayMove }: RowNeeds): boolean {
  return mayMove && !times.some(isOfHours) && toMs - fromMs < MOVED_DAYS_MAX * DAY_MS;
}

function isOfHours(kind: TimeKind): boolean {
  return kind === "hour" || kind === "hour_start" || kind === "hour_of_day";
}

/** Whether every step is within one day, or one hour, of the zone's clocks. */
function isWithinBuckets(grainMs: number, { times, segments }: RowNeeds): boolean {
  if (times.length === 0) return true;
  if (grainMs > (times.some(isOfHours) ? HOUR_MS : DAY_MS)) return false;
  const changes = segments.slice(1).map(({ fromMs }) => fromMs);
  return [...changes, ...segments.map(({ offsetMs }) => offsetMs)].every(
    (ms) => ms % grainMs === 0,
  );
}

function splitAtGrain({ fromMs, toMs }: Span, grainMs: number): { inner: Span[]; outer: Span[] } {
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
