import type { Targeting } from "../../schemas/catalog/records.ts";
import { DAY_MS, HOUR_MS, type Zone, zoneOf } from "../../schemas/time/zone.ts";
import type { Visit } from "../request/visit.ts";

/** "closed": outside the schedule, which has its own reason (`paused`, G41). */
export type Fit = "fits" | "closed" | "misses";

export type CompiledTargeting = {
  readonly judge: (visit: Visit, atMs: number) => Fit;
};

type Test = (visit: Visit) => boolean;
type Words = readonly string[] | undefined;

/** 1970-01-01 was a Thursday, ISO day 4. */
const EPOCH_ISO_DAY = 4;
/** For each list. There are more cities, but clicks name few of them often. */
const WORDS_REMEMBERED_MAX = 300;

/** Compiles which visitors may pass; undefined when all may. `timezone` is used for a schedule without one. */
export function compileTargeting(
  targeting: Targeting,
  timezone: string,
): CompiledTargeting | undefined {
  const tests = [
    allow(targeting.countries_allow, (visit) => visit.geo.country),
    deny(targeting.countries_deny, (visit) => visit.geo.country),
    allow(targeting.regions_allow, (visit) => visit.geo.region),
    allow(targeting.cities_allow, (visit) => visit.geo.city),
    allow(targeting.devices_allow, (visit) => visit.device.deviceType),
    deny(targeting.devices_deny, (visit) => visit.device.deviceType),
    allow(targeting.os_allow, (visit) => visit.device.os),
    deny(targeting.os_deny, (visit) => visit.device.os),
    allow(targeting.browsers_allow, (visit) => visit.device.browser),
    deny(targeting.browsers_deny, (visit) => visit.device.browser),
    allowLanguages(targeting.languages_allow),
    targeting.connection === "no_proxy" ? (visit: Visit) => !visit.isProxy : undefined,
  ].filter((test): test is Test => test !== undefined);
  const isOpen = compileSchedule(targeting.schedule, timezone);
  if (tests.length === 0 && isOpen === undefined) return undefined;
  return {
    judge: (visit, atMs) => {
      if (isOpen !== undefined && !isOpen(atMs)) return "closed";
      return tests.every((test) => test(visit)) ? "fits" : "misses";
    },
  };
}

/** An empty list allows everybody, because staff remove a list by emptying it. A visitor without the fact fails every list. */
function allow(words: Words, wordOf: (visit: Visit) => string): Test | undefined {
  if (words === undefined || words.length === 0) return undefined;
  const isListed = listOf(words);
  return (visit) => isListed(wordOf(visit));
}

function deny(words: Words, wordOf: (visit: Visit) => string): Test | undefined {
  if (words === undefined || words.length === 0) return undefined;
  const isListed = listOf(words);
  return (visit) => !isListed(wordOf(visit));
}

/** Words are folded once each, because visitors send the same few spellings. */
function listOf(words: readonly string[]): (word: string) => boolean {
  const listed = new Set(words.map(fold));
  const known = new Map<string, boolean>([["", false]]);
  return (word) => {
    const remembered = known.get(word);
    if (remembered !== undefined) return remembered;
    if (known.size >= WORDS_REMEMBERED_MAX) return listed.has(fold(word));
    const isListed = listed.has(fold(word));
    known.set(word, isListed);
    return isListed;
  };
}

/** `en` allows every English, `en-gb` only British English. */
function allowLanguages(words: Words): Test | undefined {
  if (words === undefined || words.length === 0) return undefined;
  const allowed = new Set(words.map((word) => word.toLowerCase().replaceAll("_", "-")));
  return ({ language }) => {
    const dash = language.indexOf("-");
    return allowed.has(language) || (dash > 0 && allowed.has(language.slice(0, dash)));
  };
}

/** Ignores case and spaces, so that `macOS` and `Mac OS` are one word. */
function fold(word: string): string {
  return word.toLowerCase().replaceAll(" ", "");
}

function compileSchedule(
  schedule: Targeting["schedule"],
  timezone: string,
): ((atMs: number) => boolean) | undefined {
  if (schedule === undefined) return undefined;
  // The API refuses unknown zones. UTC replaces a zone that was abolished since.
  const zone = zoneOf(schedule.tz || timezone) ?? zoneOf("UTC");
  if (zone === undefined) return undefined;
  const days = bitsOf(schedule.days);
  const hours = bitsOf(schedule.hours);
  const startsAtMs = instantOf(schedule.starts_at, zone) ?? Number.NEGATIVE_INFINITY;
  const endsAtMs = instantOf(schedule.ends_at, zone) ?? Number.POSITIVE_INFINITY;
  return (atMs) => {
    if (atMs < startsAtMs || atMs >= endsAtMs) return false;
    if (days === 0 && hours === 0) return true;
    const localMs = zone.localMsAt(atMs);
    const isoDay = ((Math.floor(localMs / DAY_MS) + EPOCH_ISO_DAY - 1) % 7) + 1;
    const hour = Math.floor(localMs / HOUR_MS) % 24;
    return (
      (days === 0 || (days & (1 << isoDay)) !== 0) && (hours === 0 || (hours & (1 << hour)) !== 0)
    );
  };
}

/** 0 when the list is empty or missing: then every day, or every hour, passes. */
function bitsOf(numbers: readonly number[] | undefined): number {
  return (numbers ?? []).reduce((bits, number) => bits | (1 << number), 0);
}

/** A time without an offset is a time of the schedule's zone. */
function instantOf(text: string | null | undefined, zone: Zone): number | undefined {
  if (text === null || text === undefined || text === "") return undefined;
  const hasOffset = /(?:z|[+-]\d{2}:?\d{2})$/i.test(text) && text.length > 10;
  const ms = Date.parse(hasOffset || text.length <= 10 ? text : `${text}Z`);
  if (Number.isNaN(ms)) return undefined;
  return hasOffset ? ms : zone.instantOf(ms);
}
