import { parseDay } from "./calendar.ts";
import { isPreset, PRESETS, type Preset, presetDays, presetLength } from "./presets.ts";
import {
  DAY_MS,
  INSTANT_MS_MAX,
  INSTANT_MS_MIN,
  MINUTE_MS,
  SECOND_MS,
  type Zone,
  zoneOf,
} from "./zone.ts";

/** The query parameters `preset`, `from`, `to` and `tz`, as sent. */
export type RangeQuery = {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly tz?: string | undefined;
  readonly preset?: string | undefined;
};

export type RangeRules = {
  readonly nowMs: number;
  /** Zone of the answer when `tz` is absent (G31). */
  readonly workspaceTimezone: string;
  /** The range if neither dates nor a preset are given. A lone `to` ends a range of the same length. */
  readonly defaultPreset: Preset;
  /** The longest allowed range, inclusive (T76); undefined for no limit. */
  readonly daysMax?: number;
};

/** Both ends are included: a millisecond belongs to the range when `fromMs <= it <= toMs`. */
export type TimeRange = { readonly fromMs: number; readonly toMs: number; readonly zone: Zone };

export type RangeRefusal = {
  readonly param: "from" | "to" | "tz" | "preset";
  readonly message: string;
};

export type RangeResult =
  | { readonly kind: "range"; readonly range: TimeRange }
  | ({ readonly kind: "refused" } & RangeRefusal);

/** `range` in an answer (ENV-028). */
export type RangeEcho = { readonly from: string; readonly to: string; readonly tz: string };

/** A parsed `from` or `to`: its first and last millisecond, which differ for a date. */
type Moment = {
  readonly firstMs: number;
  readonly lastMs: number;
  readonly day: number | undefined;
};

const DATE_TIME =
  /^(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2}(?::\d{2})?)(?:\.(\d{1,9}))?(Z|[+\- ]\d{2}:?\d{2})?$/i;
const FORMATS = "a date (2025-01-31) or a date-time (2025-01-31T10:00:00Z), from 1970 to 2099";

/** The range of a query (G29 to G32). `from` and `to` take precedence over `preset`. */
export function resolveRange(query: RangeQuery, rules: RangeRules): RangeResult {
  const zone = zoneOf(query.tz ?? rules.workspaceTimezone);
  if (zone === undefined)
    return refuse("tz", "expected an IANA time zone such as Europe/Berlin, or UTC");
  const preset = query.preset ?? rules.defaultPreset;
  if (!isPreset(preset)) return refuse("preset", `expected one of ${PRESETS.join(", ")}`);
  const from = parseMoment(query.from, zone);
  if (from === "bad") return refuse("from", `expected ${FORMATS}`);
  const to = parseMoment(query.to, zone);
  if (to === "bad") return refuse("to", `expected ${FORMATS}`);

  const { fromMs, toMs } =
    from === undefined && to === undefined
      ? rangeOfPreset(preset, zone, rules.nowMs)
      : rangeOfMoments(from, to, { zone, rules });
  if (fromMs > toMs) return refuse("from", "is later than the end of the range");
  if (rules.daysMax !== undefined && isLonger({ fromMs, toMs, zone }, rules.daysMax)) {
    return refuse("from", `the range may be at most ${rules.daysMax} days long`);
  }
  return { kind: "range", range: { fromMs, toMs, zone } };
}

export function echoRange(range: TimeRange): RangeEcho {
  return {
    from: new Date(range.fromMs).toISOString(),
    to: new Date(range.toMs).toISOString(),
    tz: range.zone.name,
  };
}

/** Whether a range is longer than `days` both by the calendar and in units of 24 hours: a day may have 23 or 25 hours. */
function isLonger({ fromMs, toMs, zone }: TimeRange, days: number): boolean {
  return toMs > Math.max(zone.addDays(fromMs, days), fromMs + days * DAY_MS);
}

function rangeOfPreset(
  preset: Preset,
  zone: Zone,
  nowMs: number,
): { fromMs: number; toMs: number } {
  const { firstDay, lastDay } = presetDays(preset, zone.dayAt(nowMs));
  return { fromMs: zone.startOfDayMs(firstDay), toMs: zone.startOfDayMs(lastDay + 1) - 1 };
}

function rangeOfMoments(
  from: Moment | undefined,
  to: Moment | undefined,
  { zone, rules }: { zone: Zone; rules: RangeRules },
): { fromMs: number; toMs: number } {
  const toMs = to === undefined ? rules.nowMs : to.lastMs;
  if (from !== undefined) return { fromMs: from.firstMs, toMs };
  const days = presetLength(rules.defaultPreset);
  const fromMs =
    to?.day === undefined ? zone.addDays(toMs, -days) : zone.startOfDayMs(to.day - days + 1);
  return { fromMs: Math.max(INSTANT_MS_MIN, fromMs), toMs };
}

/** Undefined if the parameter is absent. */
function parseMoment(text: string | undefined, zone: Zone): Moment | undefined | "bad" {
  if (text === undefined) return undefined;
  const day = parseDay(text);
  const moment = day === undefined ? parseInstant(text, zone) : momentOfDay(day, zone);
  if (moment === undefined) return "bad";
  // In some time zones the first and the last day reach beyond the bounds in UTC.
  const isWithin =
    moment.firstMs >= INSTANT_MS_MIN - DAY_MS && moment.lastMs <= INSTANT_MS_MAX + DAY_MS;
  return isWithin ? moment : "bad";
}

function momentOfDay(day: number, zone: Zone): Moment {
  return { firstMs: zone.startOfDayMs(day), lastMs: zone.startOfDayMs(day + 1) - 1, day };
}

function parseInstant(text: string, zone: Zone): Moment | undefined {
  const match = DATE_TIME.exec(text);
  if (match === null) return undefined;
  const [, date = "", clock = "", fraction = "", offset = ""] = match;
  const day = parseDay(date);
  const clockMs = parseClock(clock);
  const offsetMs = parseOffset(offset);
  if (day === undefined || clockMs === undefined || offsetMs === undefined) return undefined;
  const millis = Number(fraction.padEnd(3, "0").slice(0, 3));
  const localMs = day * DAY_MS + clockMs + millis;
  const atMs = offsetMs === "local" ? zone.instantOf(localMs) : localMs - offsetMs;
  return { firstMs: atMs, lastMs: atMs, day: undefined };
}

function parseClock(text: string): number | undefined {
  const [hours = 0, minutes = 0, seconds = 0] = text.split(":").map(Number);
  const isClock = hours <= 23 && minutes <= 59 && seconds <= 59;
  return isClock ? (hours * 60 + minutes) * MINUTE_MS + seconds * SECOND_MS : undefined;
}

/** A plus sign that was not percent-encoded arrives as a space, so a space counts as a plus sign. */
function parseOffset(text: string): number | undefined | "local" {
  if (text === "") return "local";
  if (text.toUpperCase() === "Z") return 0;
  const [hours, minutes] = [Number(text.slice(1, 3)), Number(text.slice(-2))];
  if (hours > 23 || minutes > 59) return undefined;
  const magnitudeMs = (hours * 60 + minutes) * MINUTE_MS;
  return text.startsWith("-") ? -magnitudeMs : magnitudeMs;
}

function refuse(param: RangeRefusal["param"], message: string): RangeResult {
  return { kind: "refused", param, message };
}
