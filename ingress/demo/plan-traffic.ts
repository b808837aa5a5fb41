import assert from "node:assert";
import type { DemoAddresses } from "./demo-addresses.ts";
import {
  DEMO_AUDIENCES,
  DEMO_BOTS,
  DEMO_DESKTOPS,
  DEMO_HOURS,
  DEMO_MOBILES,
} from "./demo-audience.ts";
import { DEMO_STREAMS, type DemoStream } from "./demo-streams.ts";
import { type PlannedReport, planReports } from "./plan-reports.ts";
import type { SeededRandom } from "./seeded-random.ts";

/** A request of a made-up visitor to the tracking domain, and what the advertiser reports about the visit. */
export type PlannedVisit = {
  readonly atMs: number;
  readonly isImpression: boolean;
  /** Path and query. */
  readonly target: string;
  readonly visitor: PlannedVisitor;
  readonly reports: readonly PlannedReport[];
};

export type PlannedVisitor = {
  readonly address: string;
  readonly userAgent: string;
  readonly language: string;
  readonly referrer: string;
};

/** What a day's visits of a stream cost, in hundredths of US dollars. */
export type PlannedCost = {
  readonly day: string;
  readonly stream: DemoStream;
  readonly cents: number;
};

export type PlannedDays = {
  /** In the order of time. */
  readonly visits: readonly PlannedVisit[];
  readonly costs: readonly PlannedCost[];
};

type Person = PlannedVisitor & { readonly hoursFromUtc: number; readonly isBot: boolean };

export const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
/** Traffic grows slowly, with a sale of three days in the middle of the month. */
const GROWTH_PER_DAY = 0.008;
const SALE_DAYS = { from: 9, to: 11, factor: 1.7 };
const RETURNING_SHARE = 0.17;
const REMEMBERED_MAX = 150;
const DOUBLE_CLICK_SHARE = 0.02;
/** Visitors who use a VPN or a company's proxy in a data centre. */
const HOSTING_SHARE = 0.03;
const BOT_HOSTING_SHARE = 0.7;

/** Plans all visits from `fromMs` up to `untilMs`. Both are midnights in UTC, or the last one is the present. */
export function planDays(
  { fromMs, untilMs, endMs }: { fromMs: number; untilMs: number; endMs: number },
  addresses: DemoAddresses,
  random: SeededRandom,
): PlannedDays {
  const visits: PlannedVisit[] = [];
  const costs: PlannedCost[] = [];
  for (const stream of DEMO_STREAMS) {
    const planner = new StreamPlanner(stream, { addresses, random, endMs });
    for (let dayMs = fromMs; dayMs < untilMs; dayMs += DAY_MS) {
      const ofDay = planner.planDay(dayMs).filter(({ atMs }) => atMs < untilMs);
      visits.push(...ofDay);
      const clicks = ofDay.filter(({ isImpression }) => !isImpression).length;
      const cents = Math.round(clicks * (stream.costPerVisit ?? 0) * (90 + random.below(20)));
      const day = new Date(dayMs).toISOString().slice(0, 10);
      if (cents > 0) costs.push({ day, stream, cents });
    }
  }
  return { visits: visits.toSorted((a, b) => a.atMs - b.atMs), costs };
}

class StreamPlanner {
  readonly #stream: DemoStream;
  readonly #addresses: DemoAddresses;
  readonly #random: SeededRandom;
  readonly #endMs: number;
  readonly #remembered: Person[] = [];

  constructor(
    stream: DemoStream,
    options: { addresses: DemoAddresses; random: SeededRandom; endMs: number },
  ) {
    this.#stream = stream;
    this.#addresses = options.addresses;
    this.#random = options.random;
    this.#endMs = options.endMs;
  }

  planDay(dayMs: number): PlannedVisit[] {
    const visits: PlannedVisit[] = [];
    const count = this.#random.count(this.#stream.visitsPerDay * this.#factorOf(dayMs));
    for (let visit = 0; visit < count; visit += 1) visits.push(...this.#planVisit(dayMs));
    const shown = this.#random.count(count * (this.#stream.impressionsPerVisit ?? 0));
    for (let impression = 0; impression < shown; impression += 1) {
      visits.push(this.#planImpression(dayMs));
    }
    return visits;
  }

  #factorOf(dayMs: number): number {
    const { weekend, newsletter } = this.#stream;
    const age = Math.round((this.#endMs - dayMs) / DAY_MS);
    const weekday = new Date(dayMs).getUTCDay();
    const isWeekend = weekday === 0 || weekday === 6;
    const isSale = age >= SALE_DAYS.from && age <= SALE_DAYS.to;
    return (
      (1 - GROWTH_PER_DAY * age) *
      (isWeekend ? weekend : 1) *
      (isSale ? SALE_DAYS.factor : 1) *
      (newsletter === undefined || !newsletter.days.includes(weekday) ? 1 : newsletter.factor)
    );
  }

  #planVisit(dayMs: number): PlannedVisit[] {
    const random = this.#random;
    const person = this.#nextPerson();
    const atMs = this.#timeOf(dayMs, person);
    const target = this.#targetOf();
    const click = { isImpression: false, target, visitor: person };
    const reports = person.isBot
      ? []
      : planReports(this.#stream, { atMs, endMs: this.#endMs }, random);
    const visit = { ...click, atMs, reports };
    if (!random.happens(DOUBLE_CLICK_SHARE)) return [visit];
    return [visit, { ...click, atMs: atMs + 1_000 + random.below(15_000), reports: [] }];
  }

  #planImpression(dayMs: number): PlannedVisit {
    const { offer, partner, link } = this.#stream;
    const person = this.#newPerson(false);
    const source = new URLSearchParams(link.split("?")[1]).get("ts") ?? "";
    return {
      atMs: this.#timeOf(dayMs, person),
      isImpression: true,
      target: `/i/${offer}/${partner}?ts=${source}`,
      visitor: person,
      reports: [],
    };
  }

  /** The local hours of the visitor's country, within the day in UTC. */
  #timeOf(dayMs: number, { hoursFromUtc }: Person): number {
    const { hour } = this.#random.weighted(DEMO_HOURS);
    const inDay = (hour - hoursFromUtc) * HOUR_MS + this.#random.below(HOUR_MS);
    return dayMs + ((inDay + DAY_MS) % DAY_MS);
  }

  #nextPerson(): Person {
    const random = this.#random;
    const known = this.#remembered;
    if (known.length > 0 && random.happens(RETURNING_SHARE)) return random.pick(known);
    const person = this.#newPerson(random.happens(this.#stream.botShare));
    if (known.length < REMEMBERED_MAX) known.push(person);
    else known[random.below(REMEMBERED_MAX)] = person;
    return person;
  }

  #newPerson(isBot: boolean): Person {
    const random = this.#random;
    const { audience, mobileShare, referrer } = this.#stream;
    const { country, language, hoursFromUtc } = random.weighted(DEMO_AUDIENCES[audience]);
    const browsers = random.happens(mobileShare) ? DEMO_MOBILES : DEMO_DESKTOPS;
    const { userAgent } = random.weighted(isBot ? DEMO_BOTS : browsers);
    const address = this.#addressIn(country, isBot ? BOT_HOSTING_SHARE : HOSTING_SHARE);
    const headers = isBot ? { language: "", referrer: "" } : { language, referrer };
    return { address, userAgent, ...headers, hoursFromUtc, isBot };
  }

  #addressIn(country: string, hostingShare: number): string {
    const { homes, hosting } = this.#addresses;
    if (this.#random.happens(hostingShare)) return this.#random.pick(hosting);
    const inCountry = homes.get(country);
    assert(inCountry !== undefined, `the geographic database knows addresses in ${country}`);
    return this.#random.pick(inCountry);
  }

  #targetOf(): string {
    const { link, varying, hasGclid } = this.#stream;
    const values = Object.entries(varying).map(
      ([name, from]) => `&${name}=${encodeURIComponent(this.#random.pick(from))}`,
    );
    return link + values.join("") + (hasGclid === true ? `&gclid=${this.#gclid()}` : "");
  }

  #gclid(): string {
    const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
    const letters = Array.from({ length: 40 }, () => alphabet[this.#random.below(64)] ?? "A");
    return `EAIaIQobChMI${letters.join("")}`;
  }
}
