import type { DemoGoal, DemoStream } from "./demo-streams.ts";
import type { SeededRandom } from "./seeded-random.ts";

/** A postback of the advertiser about a visit. The click id and the token are added when it is sent. */
export type PlannedReport = {
  readonly atMs: number;
  /** About a conversion that an earlier report made. */
  readonly isLater: boolean;
  readonly params: Readonly<Record<string, string>>;
};

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const DELAY_SPREAD = 0.9;
const AMOUNT_SPREAD = 0.45;
const REVIEW_SPREAD = 0.3;
const AGAIN_MINUTES = 20;

/** What the advertiser reports about a visit until `endMs`: orders, their repeats, and later decisions about them. */
export function planReports(
  stream: DemoStream,
  { atMs, endMs }: { atMs: number; endMs: number },
  random: SeededRandom,
): PlannedReport[] {
  const reports: PlannedReport[] = [];
  let isReached = false;
  let reachedAtMs = atMs;
  for (const goal of stream.goals) {
    if (goal.follows === true ? !isReached : isReached) continue;
    const times = goal.repeats ?? 1;
    for (let time = 0; time < times && random.happens(goal.rate); time += 1) {
      reachedAtMs += random.skewed(goal.delayMinutes, DELAY_SPREAD) * MINUTE_MS;
      isReached = true;
      reports.push(...reportsOf(stream, goal, { atMs: Math.round(reachedAtMs), random }));
    }
  }
  return reports.filter((report) => report.atMs < endMs);
}

function reportsOf(
  { reviews, reportedTwice }: DemoStream,
  { event, amount }: DemoGoal,
  { atMs, random }: { atMs: number; random: SeededRandom },
): PlannedReport[] {
  const order = {
    event,
    txid: orderNumber(random),
    ...(amount === undefined ? {} : { amount: inCents(random.skewed(amount, AMOUNT_SPREAD)) }),
  };
  const reports: PlannedReport[] = [{ atMs, isLater: false, params: order }];
  if (random.happens(reportedTwice ?? 0)) {
    const againAtMs = atMs + Math.round(random.skewed(AGAIN_MINUTES, 1) * MINUTE_MS);
    reports.push({ atMs: againAtMs, isLater: true, params: order });
  }
  let share = random.next();
  for (const review of reviews ?? []) {
    share -= review.share;
    if (share >= 0) continue;
    const afterMs = Math.round(random.skewed(review.afterDays, REVIEW_SPREAD) * DAY_MS);
    const params = { event, txid: order.txid, status: review.status };
    reports.push({ atMs: atMs + afterMs, isLater: true, params });
    break;
  }
  return reports;
}

/** Eight digits: two orders of a month rarely share one; then the second is a duplicate, as in real traffic. */
function orderNumber(random: SeededRandom): string {
  return `W-${10_000_000 + random.below(90_000_000)}`;
}

function inCents(amount: number): string {
  const cents = Math.round(amount * 100);
  return `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, "0")}`;
}
