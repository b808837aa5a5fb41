import fc from "fast-check";
import { dimensionNames } from "../../../api/reports/dimensions.ts";
import { getReport } from "../../../api/reports/get-report.ts";
import { measureNames } from "../../../api/reports/measures.ts";
import { randomOf, SEED } from "../../system/seed.ts";
import { changeConversions, type Ledger, makeLedger } from "./ledger.ts";
import { type RecountRequest, recount } from "./recount.ts";
import type { Role } from "./recount-sums.ts";
import { queryOf, recountedPart } from "./report-query.ts";
import type { Caller, ReportWorld, Row } from "./report-world.ts";

/** The range contains days on which clocks change: Berlin on 30 March, Lord Howe and Chatham on 6 April. */
const FROM_MS = Date.UTC(2025, 2, 27);
const TO_MS = Date.UTC(2025, 3, 9);
const ZONES = [
  "UTC",
  "Europe/Berlin",
  "Asia/Kolkata",
  "Asia/Kathmandu",
  "Australia/Lord_Howe",
  "Pacific/Chatham",
] as const;
const LEDGER_SIZE = 1_500;

const CALLERS: Readonly<Record<Role, Caller>> = {
  staff: "analyst",
  partner: "partner",
  advertiser: "advertiser",
};

/** Random traffic in a world, and what any report on it must answer. */
export class ReportOracle {
  readonly #world: ReportWorld;
  readonly #ledger: Ledger;

  private constructor(world: ReportWorld, ledger: Ledger) {
    this.#world = world;
    this.#ledger = ledger;
  }

  /** Stores the traffic, with older versions of some rows. */
  static async fill(world: ReportWorld): Promise<ReportOracle> {
    const random = randomOf(SEED);
    const made = makeLedger({
      ...world.seed,
      random,
      fromMs: FROM_MS,
      toMs: TO_MS,
      size: LEDGER_SIZE,
      newClickId: (atMs) => world.mint.mint(atMs, 0),
    });
    await world.store(made);
    const { changes, now } = changeConversions(made.conversions, random);
    await world.store({ conversions: changes });
    const before = made.costs.map((cost) => ({ ...cost, version: 0, amount: "99.0000" }));
    await world.store({ costs: before.filter(({ id }) => id % 3 === 0) });
    return new ReportOracle(world, { ...made, conversions: now });
  }

  /** A request of any role, with any dimensions, metrics and filters. */
  anyRequest(isCompared: boolean): fc.Arbitrary<RecountRequest> {
    return anyRequestOf(this.#world.seed, isCompared);
  }

  /** What the API answers, and what a recount of the ledger answers. */
  async answers(
    request: RecountRequest,
  ): Promise<{ readonly found: Row; readonly expected: unknown }> {
    const expected = recount(this.#ledger, {
      ...request,
      offset: request.groupBy.length === 0 ? 0 : request.offset,
    });
    const caller = CALLERS[request.role];
    const answer = await this.#world.get(getReport, queryOf(request), { caller });
    return { found: recountedPart(answer, request), expected };
  }
}

const anyRole = fc.constantFrom<Role>("staff", "staff", "partner", "advertiser");

function anyFilter(
  role: Role,
  seed: ReportWorld["seed"],
): fc.Arbitrary<RecountRequest["filters"][number]> {
  const values = (...all: string[]) =>
    fc.uniqueArray(fc.constantFrom(...all), { minLength: 1, maxLength: 3 });
  const lists = fc.constantFrom("in", "not_in");
  const texts = fc.constantFrom("in", "not_in", "contains", "not_contains", "starts_with");
  const letters = fc.constantFrom("contains", "not_contains", "starts_with");
  const ids = [...seed.offerIds, 0].map(String);
  const of = (dimension: string, operator: fc.Arbitrary<string>, given: fc.Arbitrary<string[]>) =>
    fc.record({ dimension: fc.constant(dimension), operator, values: given });
  const everybody = [
    of("offer", lists, values(...ids)),
    of("affiliate", lists, values(...[...seed.affiliateIds, 0].map(String))),
    of("country", lists, values("US", "DE", "IN")),
    of("country", letters, values("US", "DE", "I", "E")),
    of("city", texts, values("Köln", "O'Fallon", "ö", "'")),
    of("event", lists, values("sale", "lead", "default")),
    of("status", lists, values("approved", "rejected")),
    of("conversion_delay", lists, values("1m", "1h", "7d", "more")),
    of("conversion_delay", fc.constantFrom("empty", "not_empty"), fc.constant([])),
    of("weekday", lists, values("1", "7")),
    of("hour_of_day", lists, values("0", "2", "23")),
    of("method", lists, values("s2s", "api")),
    of("link_type", lists, values("smart", "affiliate")),
    of("click_status", lists, values("redirect", "none")),
    of("is_unique", lists, values("true", "false")),
    of("currency", lists, values("USD", "EUR")),
    of("date", lists, values("2025-03-30", "2025-04-05", "2025-04-06")),
    of("week", lists, values("2025-03-24", "2025-03-31")),
    of("hour", lists, values("2025-03-30T03:00", "2025-04-06T01:00", "2025-04-06T02:00")),
    of("referrer_host", fc.constantFrom("empty", "not_empty"), fc.constant([])),
    of("ext_campaign_id", fc.constantFrom("empty", "not_empty"), fc.constant([])),
  ];
  const subs = [
    of("sub1", texts, values("x", "50%", "a:b")),
    of("sub2", texts, values("\\", "'")),
    of("source_id", texts, values("a,b", "c|d", 'q"q')),
    of("smart_link", fc.constantFrom("empty", "not_empty"), fc.constant([])),
  ];
  const staff = [
    of("advertiser", lists, values(...seed.advertiserIds.map(String))),
    of("manager", lists, values(...[...seed.managerIds, 0].map(String))),
    of("is_bot", lists, values("true")),
  ];
  if (role === "advertiser") return fc.oneof(...everybody);
  return role === "partner"
    ? fc.oneof(...everybody, ...subs)
    : fc.oneof(...everybody, ...subs, ...staff);
}

/** A period with rows, whole or in part: up to a week before. */
const anyComparison = fc.integer({ min: 1, max: 7 });

function anyRequestOf(
  seed: ReportWorld["seed"],
  isCompared: boolean,
): fc.Arbitrary<RecountRequest> {
  return anyRole.chain((role) => {
    const metrics = measureNames(role);
    // sub3 to sub9 are empty in the ledger.
    const dimensions = dimensionNames(role).filter((name) => !/^sub[3-9]$/.test(name));
    const groupBy = fc.uniqueArray(fc.constantFrom(...dimensions), { maxLength: 3 });
    const sorts = isCompared
      ? metrics.flatMap((name) => [name, `previous.${name}`, `change.${name}`])
      : metrics;
    return groupBy.chain((names) =>
      fc.record({
        role: fc.constant(role),
        ownerId: fc.constant(
          (role === "partner" ? seed.affiliateIds[0] : seed.advertiserIds[0]) ?? 0,
        ),
        workspaceId: fc.constant(seed.workspaceId),
        groupBy: fc.constant(names),
        metrics: fc.uniqueArray(fc.constantFrom(...metrics), { minLength: 1 }),
        sort: fc
          .tuple(fc.constantFrom("", "-"), fc.constantFrom(...sorts, ...names))
          .map((parts) => parts.join("")),
        filters: fc.array(anyFilter(role, seed), { maxLength: 3 }),
        fromMs: fc.integer({ min: FROM_MS, max: FROM_MS + 5 * 86_400_000 }),
        toMs: fc.integer({ min: FROM_MS + 5 * 86_400_000, max: TO_MS }),
        tz: fc.constantFrom(...ZONES),
        currency: fc.constantFrom("USD", "USD", "EUR", "GBP", "JPY"),
        converts: fc.boolean(),
        ...(isCompared ? { compare: anyComparison } : {}),
        dateBasis: fc.constantFrom<"conversion" | "click">("conversion", "click"),
        limit: fc.constantFrom(1, 7, 10_000),
        offset: fc.constantFrom(0, 0, 3),
        offerCurrencies: fc.constant(
          new Map(seed.offerIds.map((id, index) => [id, index === 3 ? "EUR" : "USD"])),
        ),
        managers: fc.constant(
          new Map(seed.affiliateIds.map((id, index) => [id, seed.managerIds[index] ?? 0])),
        ),
      }),
    );
  });
}
