export const SECOND_MS = 1_000;
export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;

/** Bounds of valid instants: 1970-01-01 to the end of 2099, UTC ms. Parsers refuse others. */
export const INSTANT_MS_MIN = 0;
export const INSTANT_MS_MAX = Date.UTC(2100, 0, 1) - 1;

/** From `fromMs` until the next segment begins, the zone's clocks show UTC plus `offsetMs`. */
export type OffsetSegment = { readonly fromMs: number; readonly offsetMs: number };

const NAME = /^[A-Za-z][A-Za-z0-9_+\-/]{0,63}$/;
/** No zone changes its clocks twice within this time. The closest known pair is 6 days 23 h apart (Asia/Gaza, October 2040). */
const SCAN_STEP_MS = 6 * DAY_MS;
/** More than all names and aliases. A caller who mixes upper and lower case can use more spellings; they only take longer. */
const SPELLINGS_MAX = 1_000;
/** By name as given. */
const zones = new Map<string, Zone>();
/** What names resolve to, by lower-case name: only names of zones are kept, so their number is limited too. */
const resolvedNames = new Map<string, string>();
/** By the name that an alias resolves to, so their number is limited by the number of zones. */
const clocks = new Map<string, ZoneClock>();

/**
 * The IANA zone with this name; undefined if there is none. Its `name` is the given name in its usual upper and lower case (G31). An alias
 * is not resolved and stays as written.
 */
export function zoneOf(name: string): Zone | undefined {
  const known = zones.get(name);
  if (known !== undefined) return known;
  const resolved = NAME.test(name) ? resolvedName(name) : undefined;
  if (resolved === undefined) return undefined;
  const clock = clocks.get(resolved) ?? new ZoneClock(resolved);
  clocks.set(resolved, clock);
  const zone = new Zone(resolved.toLowerCase() === name.toLowerCase() ? resolved : name, clock);
  if (zones.size >= SPELLINGS_MAX) zones.clear();
  zones.set(name, zone);
  return zone;
}

/**
 * The clock of one time zone. A "local" time is the wall-clock time as if it were UTC, in milliseconds; a day is a number of days since
 * 1970-01-01. Correct from {@link INSTANT_MS_MIN} to {@link INSTANT_MS_MAX}, including days of 23 and 25 hours (T71).
 */
export class Zone {
  readonly name: string;
  readonly #clock: ZoneClock;

  /** Use {@link zoneOf}. */
  constructor(name: string, clock: ZoneClock) {
    this.name = name;
    this.#clock = clock;
  }

  /** How far the zone's clocks are ahead of UTC. */
  offsetMsAt(atMs: number): number {
    const segments = this.#clock.year(new Date(atMs).getUTCFullYear());
    let offsetMs = 0;
    for (const segment of segments) {
      if (segment.fromMs > atMs) break;
      offsetMs = segment.offsetMs;
    }
    return offsetMs;
  }

  localMsAt(atMs: number): number {
    return atMs + this.offsetMsAt(atMs);
  }

  dayAt(atMs: number): number {
    return Math.floor(this.localMsAt(atMs) / DAY_MS);
  }

  /**
   * The instant when the wall clock shows `localMs`. If it shows it twice, the first one. If clocks skip it, the result is as long after
   * the change as `localMs` is after the start of the gap.
   */
  instantOf(localMs: number): number {
    const before = this.offsetMsAt(localMs - DAY_MS);
    const after = this.offsetMsAt(localMs + DAY_MS);
    const candidates = before === after ? [before] : [before, after];
    const instants = candidates.map((offsetMs) => localMs - offsetMs);
    const shown = instants.filter((atMs) => this.localMsAt(atMs) === localMs);
    return shown.length > 0 ? Math.min(...shown) : localMs - before;
  }

  /** The first instant of a day. A day begins where the previous one ends, even if it has no midnight. */
  startOfDayMs(day: number): number {
    return this.instantOf(day * DAY_MS);
  }

  /** The same wall-clock time `days` days later. */
  addDays(atMs: number, days: number): number {
    return this.instantOf(this.localMsAt(atMs) + days * DAY_MS);
  }

  /** The offsets from `fromMs` to `toMs`, inclusive; the first segment begins at `fromMs`. */
  segments(fromMs: number, toMs: number): OffsetSegment[] {
    const found: OffsetSegment[] = [{ fromMs, offsetMs: this.offsetMsAt(fromMs) }];
    const lastYear = new Date(toMs).getUTCFullYear();
    for (let year = new Date(fromMs).getUTCFullYear(); year <= lastYear; year += 1) {
      for (const segment of this.#clock.year(year)) {
        const last = found.at(-1);
        if (
          segment.fromMs > fromMs &&
          segment.fromMs <= toMs &&
          segment.offsetMs !== last?.offsetMs
        ) {
          found.push(segment);
        }
      }
    }
    return found;
  }
}

/** The offsets of one zone by year. */
class ZoneClock {
  readonly #shown: Intl.DateTimeFormat;
  readonly #years = new Map<number, readonly OffsetSegment[]>();

  constructor(name: string) {
    this.#shown = new Intl.DateTimeFormat("en-US", {
      timeZone: name,
      calendar: "gregory",
      numberingSystem: "latn",
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    });
  }

  /** The segments of a year; the first begins with it. */
  year(year: number): readonly OffsetSegment[] {
    const known = this.#years.get(year);
    if (known !== undefined) return known;
    const lastMs = Date.UTC(year + 1, 0, 1) - SECOND_MS;
    let atMs = Date.UTC(year, 0, 1);
    let offsetMs = this.#shownOffsetMs(atMs);
    const segments: OffsetSegment[] = [{ fromMs: atMs, offsetMs }];
    while (atMs < lastMs) {
      const nextMs = Math.min(atMs + SCAN_STEP_MS, lastMs);
      const nextOffsetMs = this.#shownOffsetMs(nextMs);
      if (nextOffsetMs !== offsetMs) {
        segments.push({ fromMs: this.#changeMs(atMs, nextMs, offsetMs), offsetMs: nextOffsetMs });
      }
      atMs = nextMs;
      offsetMs = nextOffsetMs;
    }
    this.#years.set(year, segments);
    return segments;
  }

  /** The first second in (`fromMs`, `toMs`] at which the offset is no longer `offsetMs`. */
  #changeMs(fromMs: number, toMs: number, offsetMs: number): number {
    let same = fromMs;
    let changed = toMs;
    while (changed - same > SECOND_MS) {
      const middle = same + Math.floor((changed - same) / 2 / SECOND_MS) * SECOND_MS;
      if (this.#shownOffsetMs(middle) === offsetMs) same = middle;
      else changed = middle;
    }
    return changed;
  }

  /** The offset at `atMs`, which must be a whole second: the clock shows no smaller unit. */
  #shownOffsetMs(atMs: number): number {
    const shown = this.#shown.format(atMs).match(/\d+/g)?.map(Number) ?? [];
    const [month = 1, day = 1, year = 0, hour = 0, minute = 0, second = 0] = shown;
    return Date.UTC(year, month - 1, day, hour, minute, second) - atMs;
  }
}

/** Each format takes kilobytes that the collector does not count, so a name is resolved once, however it is spelled. */
function resolvedName(name: string): string | undefined {
  const lower = name.toLowerCase();
  const known = resolvedNames.get(lower);
  if (known !== undefined) return known;
  try {
    const resolved = new Intl.DateTimeFormat("en-US", { timeZone: name }).resolvedOptions();
    resolvedNames.set(lower, resolved.timeZone);
    return resolved.timeZone;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
