import { pause, type ServiceClient } from "../system/service.ts";
import { conversionDifferences, countedConversions, reportedConversions } from "./conversions.ts";
import type { Visitor } from "./expectation.ts";
import { readClicks, readConversions } from "./ledger.ts";
import { recountClicks } from "./recount.ts";
import { reportDifferences } from "./report-differences.ts";
import type { VisitRecord } from "./send.ts";
import type { Knowledge } from "./taken-clicks.ts";
import { userAgentOf } from "./visit-request.ts";
import type { World } from "./world.ts";

export type Comparison = {
  readonly clicksStored: number;
  readonly clicksAnswered: number;
  /** Stored clicks by status and reason. */
  readonly byReason: ReadonlyMap<string, number>;
  /** Clicks for which more than one condition is right. */
  readonly eitherWay: number;
  /** Clicks that exceeded a full click cap because their process did not know of it yet. */
  readonly beyondCaps: number;
  readonly impressions: number;
  readonly conversionsStored: number;
  readonly conversionsRefused: number;
  readonly repeatsStored: number;
  /** One sentence each; empty when ledger and service agree. */
  readonly differences: string[];
};

export type CompareOptions = {
  readonly client: ServiceClient;
  readonly world: World;
  readonly run: string;
  /** ISO time before the first request of the run. */
  readonly from: string;
  readonly records: readonly VisitRecord[];
  readonly visitorOf: (ip: string, userAgent: string) => Visitor;
  readonly knowledge: Knowledge;
  /** The longest time that the service may take to show everything. */
  readonly patienceMs: number;
};

const LISTED_MAX = 10;

/** Compares the ledger of a replay with the service, until they agree or `patienceMs` has passed. */
export async function compareWithService(options: CompareOptions): Promise<Comparison> {
  const deadlineMs = performance.now() + options.patienceMs;
  for (;;) {
    const comparison = await compareOnce(options);
    if (comparison.differences.length === 0 || performance.now() > deadlineMs) return comparison;
    await pause(1_000);
  }
}

async function compareOnce(options: CompareOptions): Promise<Comparison> {
  const { client, world, run, from, records, visitorOf, knowledge } = options;
  const clicks = await readClicks(client, run, from);
  const conversions = await readConversions(client, run, from);
  const reported = reportedConversions(world, records, clicks);
  const recount = recountClicks({
    world,
    run,
    records,
    clicks,
    visitorOf,
    knowledge,
    countedConversions: countedConversions(reported),
  });
  const countryOf = ({ visit }: VisitRecord): string =>
    visitorOf(visit.line.ip, userAgentOf(visit)).country;
  const subject = { client, world, run, from, clicks, conversions, reported, records, countryOf };
  const byReason = new Map<string, number>();
  for (const { status, status_reason } of clicks) {
    const key = status_reason === "" ? status : `${status} ${status_reason}`;
    byReason.set(key, (byReason.get(key) ?? 0) + 1);
  }
  return {
    clicksStored: clicks.length,
    clicksAnswered: records.filter(({ visit }) => isClick(visit.target.kind)).length,
    byReason,
    eitherWay: recount.eitherWay,
    beyondCaps: recount.beyondCaps,
    impressions: records.filter(({ visit }) => visit.target.kind === "impression").length,
    conversionsStored: conversions.filter((row) => row.status === "approved").length,
    conversionsRefused: conversions.filter((row) => row.status_reason === "cap_exceeded").length,
    repeatsStored: conversions.filter((row) => row.is_duplicate).length,
    differences: [
      ...recount.differences,
      ...unknownDifferences(records),
      ...conversionDifferences(run, reported, conversions),
      ...(await reportDifferences(subject)),
    ],
  };
}

function isClick(kind: string): boolean {
  return kind === "link" || kind === "smart";
}

/** Unknown links redirect to an allowed `url=`, otherwise answer 404. Impression pixels always return their image. */
function unknownDifferences(records: readonly VisitRecord[]): string[] {
  return records.flatMap(({ visit, answer }) => {
    const { target, line } = visit;
    if (isClick(target.kind)) return [];
    const isAllowed = target.kind === "unknown" && target.url?.refusal === "";
    const right =
      target.kind === "impression" ? "200 " : isAllowed ? `302 ${target.url?.text}` : "404 ";
    const actual = `${answer.status} ${answer.location}`;
    return actual === right ? [] : [`line ${line.number}: the answer is ${actual}, not ${right}`];
  });
}

/** The differences that fit a terminal. */
export function listed(differences: readonly string[]): string[] {
  const more = differences.length - LISTED_MAX;
  return more > 0 ? [...differences.slice(0, LISTED_MAX), `… and ${more} more`] : [...differences];
}
